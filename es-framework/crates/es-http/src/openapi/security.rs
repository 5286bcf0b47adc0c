//! The security section of the document: the credentials and roles of operations. The document does
//! not depend on settings, so it lists them even if the service runs without authentication.

use serde_json::{Value, json};

use crate::problem::kind::{self, ProblemKind};

const BEARER: &str = "bearer";
const OPERATOR: &str = "operator";

/// The problems of all operations that require a credential.
pub(super) const PROBLEMS: [ProblemKind; 3] = [
    kind::UNAUTHORIZED,
    kind::TOO_MANY_REQUESTS,
    kind::ISSUER_AWAY,
];

/// The requests to an operation for operators that need the credential of an operator.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OperatorAccess {
    /// All requests.
    Always,
    /// Only requests to a service that authenticates its callers.
    IfAuthenticated,
}

pub(super) fn security_schemes() -> Value {
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

/// Returns the security requirement of an operation for operators. The credential is optional if the
/// service can run without authentication.
pub(super) fn operator_requirement(access: OperatorAccess) -> Value {
    match access {
        OperatorAccess::Always => json!([{ OPERATOR: [] }]),
        OperatorAccess::IfAuthenticated => json!([{ OPERATOR: [] }, {}]),
    }
}

/// Returns the security requirement of all other operations. The credential is optional, because a service can run
/// without authentication.
pub(super) fn caller_requirement(roles: &[&str]) -> Value {
    if roles.is_empty() {
        return json!([{ BEARER: [] }, {}]);
    }
    let alternatives = roles.iter().map(|role| json!({ BEARER: [role] }));
    alternatives.chain([json!({})]).collect()
}

/// Returns the security requirement of an operation that needs no credential.
pub(super) fn no_requirement() -> Value {
    json!([])
}

/// Describes in a sentence who may call an operation. Without roles, the text is empty, unless nobody needs a
/// credential.
pub(super) fn access_description(roles: &[&str], public: bool) -> String {
    if public {
        return "Requires no credential.".to_owned();
    }
    if roles.is_empty() {
        return String::new();
    }
    let quoted: Vec<_> = roles.iter().map(|role| format!("`{role}`")).collect();
    let alternatives = quoted.join(" or ");
    format!("Requires the role {alternatives} if the service authenticates its clients.")
}
