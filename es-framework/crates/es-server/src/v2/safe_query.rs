//! The method of reads: `QUERY` of RFC 10008, which is safe and has a body.

use axum::{
    extract::FromRequestParts,
    http::{HeaderName, header, request::Parts},
};

use crate::api_error::ApiError;

/// Extractor that rejects a request with another method. Put it first in a handler's parameters.
pub(super) struct QueryMethod;

impl<S: Sync> FromRequestParts<S> for QueryMethod {
    type Rejection = ([(HeaderName, &'static str); 1], ApiError);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        if parts.method.as_str() == "QUERY" {
            return Ok(Self);
        }
        Err(([(header::ALLOW, "QUERY")], ApiError::wrong_method()))
    }
}
