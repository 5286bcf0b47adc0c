//! Operators: who may look at read models and reactions and ask something of them, and where.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use serde_json::{Value, json};

use super::{Mounted, Problem, Surface, auth::Auth, problem::kind, projections, reactions};
use crate::{
    bearer,
    projection::{Asked, Refused},
    reaction,
};

/// Where they look and ask.
pub(super) fn routes() -> Vec<Mounted> {
    use reaction::Asked as OfReaction;
    vec![
        Mounted::own(projections::PATH, get(projections::show)),
        Mounted::own(
            projections::REBUILD,
            post(|state, name, headers| projections::ask(Asked::Rebuild, state, name, headers)),
        ),
        Mounted::own(
            projections::RETRY,
            post(|state, name, headers| projections::ask(Asked::Retry, state, name, headers)),
        ),
        Mounted::own(
            projections::SKIP,
            post(|state, name, headers| projections::ask(Asked::Skip, state, name, headers)),
        ),
        Mounted::own(reactions::PATH, get(reactions::show)),
        Mounted::own(
            reactions::RETRY,
            post(|state, name, headers| reactions::ask(OfReaction::Retry, state, name, headers)),
        ),
        Mounted::own(
            reactions::SKIP,
            post(|state, name, headers| reactions::ask(OfReaction::Skip, state, name, headers)),
        ),
    ]
}

/// A name as it stands in a path, which may be no text at all.
pub(super) type Name = Result<Path<String>, PathRejection>;

/// What is named, if that is a text.
pub(super) fn named(name: Name) -> Result<String, Problem> {
    let unnamed = |_| Problem::new(kind::NOT_FOUND, "the name in the path is no UTF-8 text");
    name.map(|Path(name)| name).map_err(unnamed)
}

/// Where callers have to be known, only an operator may look.
pub(super) fn may_look(surface: &Surface, headers: &HeaderMap) -> bool {
    matches!(surface.auth, Auth::Open) || may_ask(surface, headers)
}

/// Whoever holds the event store's token may write events, and so may say what becomes of them.
pub(super) fn may_ask(surface: &Surface, headers: &HeaderMap) -> bool {
    let given = bearer::credential(headers).ok();
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
