//! Operators: who may look at read models and reactions and ask something of them.

use axum::{
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use super::{Problem, Surface, auth::Auth, problem::kind};
use crate::projection::Refused;

/// Where callers have to be known, only an operator may look.
pub(super) fn may_look(surface: &Surface, headers: &HeaderMap) -> bool {
    matches!(surface.auth, Auth::Open) || may_ask(surface, headers)
}

/// Whoever holds the event store's token may write events, and so may say what becomes of them.
pub(super) fn may_ask(surface: &Surface, headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let token = surface.operator_token.as_ref();
    token
        .zip(given)
        .is_some_and(|(token, given)| token.matches(given))
}

/// What everybody else is told.
pub(super) fn only() -> Response {
    let detail = "send the event store's API token as Authorization: Bearer …";
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (challenge, Problem::new(kind::OPERATORS_ONLY, detail)).into_response()
}

/// The event that a read model or a reaction stopped at.
pub(super) fn refused(refused: Refused) -> Value {
    json!({
        "id": refused.id.to_string(),
        "subject": refused.subject.as_str(),
        "error": refused.reason,
    })
}
