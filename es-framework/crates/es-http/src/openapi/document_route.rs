//! `GET /openapi.json` returns the document, which the application generates at its start.

use axum::{
    http::header,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use serde_json::Value;

/// The path of the document.
pub(crate) const PATH: &str = "/openapi.json";

/// The document as bytes.
#[derive(Debug, Clone)]
pub(crate) struct OpenApiDocument(Bytes);

impl OpenApiDocument {
    pub(crate) fn new(document: &Value) -> Self {
        Self(Bytes::from(document.to_string()))
    }

    pub(crate) fn show(&self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "no-cache"),
        ];
        (headers, self.0.clone()).into_response()
    }
}
