//! The JSON of a problem.

use serde::Serialize;

use super::Problem;

/// What precedes the name of a problem in its `type`: a `tag` URI, as RFC 9457 advises for types
/// that cannot be looked up.
const TYPE_PREFIX: &str = "tag:es-framework,2026:problem:";

#[derive(Serialize)]
struct Body<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<BodyError<'a>>,
}

#[derive(Serialize)]
struct BodyError<'a> {
    pointer: &'a str,
    message: &'a str,
}

impl Problem {
    /// Its document.
    pub(in crate::http) fn to_json(&self) -> String {
        let errors = self.errors.iter().map(|violation| BodyError {
            pointer: &violation.pointer,
            message: &violation.message,
        });
        let body = Body {
            r#type: format!("{TYPE_PREFIX}{}", self.name),
            title: self.title,
            status: self.status.as_u16(),
            detail: &self.detail,
            errors: errors.collect(),
        };
        serde_json::to_string(&body).unwrap_or_default()
    }
}
