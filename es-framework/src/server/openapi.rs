//! `GET /.well-known/openapi`: this API, described for machines. Needs no token.

use axum::{http::header, response::IntoResponse};

/// OpenAPI 3.1. A test holds it against the routes.
pub(super) const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}
