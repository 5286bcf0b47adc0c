//! A JSON value as the store has it. Pages show only the beginning of a long one, and link to the whole.

use axum::{
    http::header,
    response::{IntoResponse as _, Response},
};
use serde_json::value::RawValue;

/// Responds with a JSON value. The browser runs nothing in it.
pub(crate) fn respond_with_json(json: &RawValue) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        // The value can have personal data.
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, json.get().to_owned()).into_response()
}
