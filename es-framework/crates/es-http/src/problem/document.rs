//! The JSON of a problem.

use serde::{Serialize, Serializer};

use super::Problem;

/// The members of a problem (RFC 9457).
#[derive(Serialize)]
struct ProblemBody<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ProblemErrorMember<'a>>,
}

/// One element of the member `errors`.
#[derive(Serialize)]
struct ProblemErrorMember<'a> {
    pointer: &'a str,
    message: &'a str,
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let errors = self.errors.iter().map(|violation| ProblemErrorMember {
            pointer: &violation.pointer,
            message: &violation.message,
        });
        let body = ProblemBody {
            r#type: self.kind.uri(),
            title: self.kind.title,
            status: self.kind.status.as_u16(),
            detail: &self.detail,
            errors: errors.collect(),
        };
        body.serialize(serializer)
    }
}

impl Problem {
    /// Returns the JSON document.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
