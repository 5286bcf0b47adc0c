//! The routes of the HTTP API.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::get,
};
use es_net::has_valid_host;

use super::{
    api_error::ApiError,
    line_chunks::{accepts_batches, with_line_chunks},
    openapi,
    state::ServerState,
    v1, v2,
};

/// Clients check that it starts with the name of the database whose protocol this is.
const SERVER_HEADER: HeaderValue = HeaderValue::from_static(concat!(
    "EventSourcingDB/1.2.0 (es-framework/",
    env!("CARGO_PKG_VERSION"),
    ")"
));

/// Creates the routes of both versions. Newer clients use version 2, because its ping answers.
pub(super) fn router(server: ServerState) -> Router {
    v1::routes()
        .merge(v2::routes())
        .route("/.well-known/openapi", get(openapi::openapi))
        .fallback(async || ApiError::unknown_route())
        .method_not_allowed_fallback(async || ApiError::wrong_method())
        .layer(middleware::from_fn(apply_protocol))
        .with_state(Arc::new(server))
}

/// Applies the rules of the protocol that hold for all routes. It is one middleware, because each one costs
/// every request several allocations.
async fn apply_protocol(request: Request, next: Next) -> Response {
    let accepts_batches = accepts_batches(request.headers());
    let response = if has_valid_host(&request) {
        next.run(request).await
    } else {
        ApiError::invalid_request("invalid request: it needs the header Host exactly once")
            .into_response()
    };
    let mut response = if accepts_batches {
        response
    } else {
        with_line_chunks(response)
    };
    response.headers_mut().insert(header::SERVER, SERVER_HEADER);
    response
}
