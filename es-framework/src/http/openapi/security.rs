//! The security section of the document: the credentials and roles of operations. The document does
//! not depend on settings, so it lists them even if the service runs without authentication.

use serde_json::{Value, json};

use crate::http::problem::kind::{self, ProblemKind};

const BEARER: &str = "bearer";
const OPERATOR: &str = "operator";

/// The problems of all operations that require a credential.
pub(super) const PROBLEMS: [ProblemKind; 3] = [
    kind::UNAUTHORIZED,
    kind::TOO_MANY_REQUESTS,
    kind::ISSUER_AWAY,
];

pub(super) fn schemes() -> Value {
    json!({
        BEARER: {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of the service, or a JWT of its issuer. Required if the service authenticates its clients.",
        },
        OPERATOR: {
            "type": "http",
            "scheme": "bearer",
            "description": "The API token of the event store. `POST` always requires it; `GET` requires it if the service authenticates its clients.",
        },
    })
}

/// Returns the security of an operation for operators. If not `always`, the credential is optional.
pub(super) fn of_operators(always: bool) -> Value {
    match always {
        true => json!([{ OPERATOR: [] }]),
        false => json!([{ OPERATOR: [] }, {}]),
    }
}

/// Returns the security of other operations. A credential is optional, because a service can run
/// without authentication.
pub(super) fn required(role: Option<&str>) -> Value {
    let roles: Vec<_> = role.into_iter().collect();
    json!([{ BEARER: roles }, {}])
}

/// Describes the required role in a sentence.
pub(super) fn role_description(role: &str) -> String {
    format!("Requires the role `{role}` if the service authenticates its clients.")
}
