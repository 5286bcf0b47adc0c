//! Operators: who may look at read models and reactions and ask something of them, and where.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path, rejection::PathRejection},
    http::{HeaderMap, header, request::Parts},
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
            post(|name, state| projections::ask(Asked::Rebuild, name, state)),
        ),
        Mounted::own(
            projections::RETRY,
            post(|name, state| projections::ask(Asked::Retry, name, state)),
        ),
        Mounted::own(
            projections::SKIP,
            post(|name, state| projections::ask(Asked::Skip, name, state)),
        ),
        Mounted::own(reactions::PATH, get(reactions::show)),
        Mounted::own(
            reactions::RETRY,
            post(|name, state| reactions::ask(OfReaction::Retry, name, state)),
        ),
        Mounted::own(
            reactions::SKIP,
            post(|name, state| reactions::ask(OfReaction::Skip, name, state)),
        ),
    ]
}

/// Somebody who may look: where callers have to be known, only an operator.
pub(super) struct Onlooker;

impl FromRequestParts<Arc<Surface>> for Onlooker {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        surface: &Arc<Surface>,
    ) -> Result<Self, Self::Rejection> {
        let may_look = matches!(surface.auth, Auth::Open) || is_operator(surface, &parts.headers);
        may_look.then_some(Self).ok_or_else(only)
    }
}

/// What an operator names in the path.
pub(super) struct Named(pub(super) String);

impl FromRequestParts<Arc<Surface>> for Named {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        surface: &Arc<Surface>,
    ) -> Result<Self, Self::Rejection> {
        if !is_operator(surface, &parts.headers) {
            return Err(only());
        }
        let unnamed = |_: PathRejection| {
            let detail = "the name in the path is no UTF-8 text";
            Problem::new(kind::NOT_FOUND, detail).into_response()
        };
        let name = Path::from_request_parts(parts, surface).await;
        name.map(|Path(name)| Self(name)).map_err(unnamed)
    }
}

/// Whoever holds the event store's token may write events, and so may say what becomes of them.
fn is_operator(surface: &Surface, headers: &HeaderMap) -> bool {
    let given = bearer::credential(headers).ok();
    let token = surface.operator_token.as_ref();
    token
        .zip(given)
        .is_some_and(|(token, given)| token.matches(given))
}

/// What everybody else is told.
fn only() -> Response {
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
