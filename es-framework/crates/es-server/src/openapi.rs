//! `GET /.well-known/openapi` describes this API for programs. It needs no token.

use axum::{http::header, response::IntoResponse};

/// The OpenAPI 3.2 document. A test compares it with the routes.
pub(super) const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}
