//! The responses to callers who are denied: `401` and `403` with the challenge of RFC 6750, and `503`
//! while the issuer does not answer.

use axum::response::{IntoResponse, Response};

use crate::{Problem, problem::kind};

/// The reason why a request is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccessDenied {
    /// The request has no credential.
    NoCredential,
    /// The credential is invalid. The response has no reason, so that it does not help to guess one. The log has
    /// the reason for which a JWT was refused.
    InvalidCredential,
    /// The caller has none of these roles.
    NoRole(&'static [&'static str]),
    /// The issuer of tokens does not answer, so its newest keys are unknown.
    #[cfg(feature = "oidc")]
    IssuerAway,
}

impl From<AccessDenied> for Problem {
    fn from(denied: AccessDenied) -> Self {
        match denied {
            AccessDenied::NoCredential => {
                unauthorized("send the header Authorization: Bearer and a token")
                    .with_challenge("Bearer")
            }
            AccessDenied::InvalidCredential => {
                unauthorized("the token of the header Authorization is not, or no longer, valid")
                    .with_challenge("Bearer error=\"invalid_token\"")
            }
            AccessDenied::NoRole(roles) => {
                Self::missing_role(roles).with_challenge("Bearer error=\"insufficient_scope\"")
            }
            #[cfg(feature = "oidc")]
            AccessDenied::IssuerAway => Self::new(
                kind::ISSUER_AWAY,
                "the issuer of tokens does not answer: send the request again later",
            ),
        }
    }
}

impl IntoResponse for AccessDenied {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

fn unauthorized(detail: &'static str) -> Problem {
    Problem::new(kind::UNAUTHORIZED, detail)
}
