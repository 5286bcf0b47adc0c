//! The authorization of operators. The event store's API token authorizes them: its holder may write
//! events, and so may also command projections and reactions.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{header, request::Parts},
    response::{IntoResponse as _, Response},
};
use es_net::{PeerAddress, bearer};
use tracing::field::display;

use crate::{HttpContext, Problem, problem::kind};

/// An extractor that requires the credential of an operator.
pub(super) struct RequireOperator;

/// An extractor that requires the credential of an operator where the service authenticates callers.
pub(super) struct RequireOperatorOrOpen;

impl FromRequestParts<Arc<HttpContext>> for RequireOperator {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        context: &Arc<HttpContext>,
    ) -> Result<Self, Response> {
        let is_operator = is_operator(context, parts);
        is_operator.then_some(Self).ok_or_else(operators_only)
    }
}

impl FromRequestParts<Arc<HttpContext>> for RequireOperatorOrOpen {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        context: &Arc<HttpContext>,
    ) -> Result<Self, Response> {
        if !context.auth.is_open() {
            RequireOperator::from_request_parts(parts, context).await?;
        }
        Ok(Self)
    }
}

/// Returns whether a request has the credential of operators. The log names those who send a wrong one.
fn is_operator(context: &HttpContext, request: &Parts) -> bool {
    let Ok(credential) = bearer::read_credential(&request.headers) else {
        return false;
    };
    let token = context.operator_token.as_ref();
    let is_operator = token.is_some_and(|token| token.matches(credential));
    if !is_operator {
        let peer = request.extensions.get::<PeerAddress>();
        let address = peer.map(|PeerAddress(address)| display(address));
        tracing::warn!(
            address,
            "someone sent a wrong API token to the operator API"
        );
    }
    is_operator
}

fn operators_only() -> Response {
    let detail = "send the event store's API token as Authorization: Bearer …";
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (challenge, Problem::new(kind::OPERATORS_ONLY, detail)).into_response()
}
