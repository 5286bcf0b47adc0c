//! The authorization of operators. The event store's API token authorizes them: its holder may write
//! events, and so may also command projections and reactions.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
    response::{IntoResponse as _, Response},
};

use crate::{
    bearer,
    http::{HttpContext, Problem, auth::Auth, problem::kind},
};

/// An extractor that requires the credential of an operator.
pub(super) struct RequireOperator;

/// An extractor that requires the credential of an operator where the service authenticates callers.
pub(super) struct RequireOperatorOrOpen;

impl FromRequestParts<Arc<HttpContext>> for RequireOperator {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        context: &Arc<HttpContext>,
    ) -> Result<Self, Self::Rejection> {
        if is_operator(context, &parts.headers) {
            Ok(Self)
        } else {
            Err(operators_only())
        }
    }
}

impl FromRequestParts<Arc<HttpContext>> for RequireOperatorOrOpen {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        context: &Arc<HttpContext>,
    ) -> Result<Self, Self::Rejection> {
        if matches!(context.auth, Auth::Open) || is_operator(context, &parts.headers) {
            Ok(Self)
        } else {
            Err(operators_only())
        }
    }
}

fn is_operator(context: &HttpContext, headers: &HeaderMap) -> bool {
    let credential = bearer::read_credential(headers).ok();
    let token = context.operator_token.as_ref();
    token
        .zip(credential)
        .is_some_and(|(token, credential)| token.matches(credential))
}

fn operators_only() -> Response {
    let detail = "send the event store's API token as Authorization: Bearer …";
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (challenge, Problem::new(kind::OPERATORS_ONLY, detail)).into_response()
}
