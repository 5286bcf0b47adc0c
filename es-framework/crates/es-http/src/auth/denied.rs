//! The responses to callers who are denied: `401` and `403` with the challenge of RFC 6750, and `503`
//! while the issuer does not answer.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use crate::{Problem, problem::kind};

/// The reason why a request is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccessDenied {
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

impl IntoResponse for AccessDenied {
    fn into_response(self) -> Response {
        let (problem, challenge) = match self {
            Self::NoCredential => (
                unauthorized("send the header Authorization: Bearer and a token"),
                HeaderValue::from_static("Bearer"),
            ),
            Self::InvalidCredential => (
                unauthorized("the token of the header Authorization is not, or no longer, valid"),
                HeaderValue::from_static("Bearer error=\"invalid_token\""),
            ),
            Self::NoRole(roles) => (
                Problem::missing_role(roles),
                HeaderValue::from_static("Bearer error=\"insufficient_scope\""),
            ),
            #[cfg(feature = "oidc")]
            Self::IssuerAway => return issuer_away().into_response(),
        };
        let mut response = problem.into_response();
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
        response
    }
}

#[cfg(feature = "oidc")]
fn issuer_away() -> Problem {
    Problem::new(
        kind::ISSUER_AWAY,
        "the issuer of tokens does not answer: send the request again later",
    )
}

fn unauthorized(detail: &'static str) -> Problem {
    Problem::new(kind::UNAUTHORIZED, detail)
}
