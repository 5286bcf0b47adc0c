//! The security section of the document: the credentials and roles of operations. The document does
//! not depend on settings, so it lists them even if the service runs without authentication.

use serde_json::{Value, json};

use crate::http::problem::kind::{self, ProblemKind};

const BEARER: &str = "bearer";
const OPERATOR: &str = "operator";

/// The problems of everything that takes a credential.
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
            "description": "A token of the service, or a JWT of its issuer. Needed where the service is set to know its callers.",
        },
        OPERATOR: {
            "type": "http",
            "scheme": "bearer",
            "description": "The API token of the event store. To look, it is needed where the service is set to know its callers; to ask for something, always.",
        },
    })
}

/// With the credential of an operator, or perhaps without any.
pub(super) fn of_operators(always: bool) -> Value {
    match always {
        true => json!([{ OPERATOR: [] }]),
        false => json!([{ OPERATOR: [] }, {}]),
    }
}

/// With a credential that has the role, if there is one, or without any.
pub(super) fn required(role: Option<&str>) -> Value {
    let roles: Vec<_> = role.into_iter().collect();
    json!([{ BEARER: roles }, {}])
}

/// Describes the required role in a sentence.
pub(super) fn told(role: &str) -> String {
    format!("Takes the role `{role}` where callers are known.")
}
