//! The media type and the encoding of a body.

use axum::http::{HeaderMap, HeaderValue, header};

use super::Problem;

/// The media type of lines of JSON.
pub(super) const NDJSON: &str = "application/x-ndjson";

/// Returns whether a body has this media type.
pub(super) fn has_media_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).map(HeaderValue::to_str);
    let essence = value.and_then(|text| text.ok()?.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}

/// Checks that a body is sent as it is.
pub(super) fn check_content_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    if encodings.iter().any(|encoding| encoding != "identity") {
        return Err(Problem::unsupported_encoding());
    }
    Ok(())
}
