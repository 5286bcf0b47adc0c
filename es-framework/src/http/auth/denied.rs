//! The answers to callers who may not: `401` and `403` with the challenge of RFC 6750, and `503`
//! while nobody can tell.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use crate::http::{Problem, problem::kind};

/// Why a request goes no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccessDenied {
    /// It carries no credential.
    NoCredential,
    /// Its credential is none that counts here. Why it is not is for the log: a caller who may
    /// know can find out, and one who guesses learns nothing.
    InvalidCredential,
    /// The caller lacks a role.
    NoRole(&'static str),
    /// The issuer of tokens does not answer, so its newest keys are not known.
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
            Self::NoRole(role) => (
                Problem::new(
                    kind::FORBIDDEN,
                    format!("this takes the role {role}, which the caller does not have"),
                ),
                HeaderValue::from_static("Bearer error=\"insufficient_scope\""),
            ),
            Self::IssuerAway => return issuer_away().into_response(),
        };
        let mut response = problem.into_response();
        let headers = response.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge);
        response
    }
}

fn issuer_away() -> Problem {
    Problem::new(
        kind::ISSUER_AWAY,
        "the issuer of tokens does not answer: send the request again later",
    )
}

fn unauthorized(detail: &'static str) -> Problem {
    Problem::new(kind::UNAUTHORIZED, detail)
}
