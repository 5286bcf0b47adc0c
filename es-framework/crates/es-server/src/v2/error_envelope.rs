//! The error of a route as version 2 sends it: an envelope with status 200, or the status and the text of version 1 if it
//! has no code.

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};

use crate::{api_error::ApiError, envelope::write_error, ndjson::NDJSON};

/// An error in an envelope.
#[derive(Debug)]
pub(super) struct ErrorEnvelope(ApiError);

impl<E: Into<ApiError>> From<E> for ErrorEnvelope {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl ErrorEnvelope {
    /// Creates the response of a route whose response is one JSON value instead of a stream.
    pub(super) fn into_single_response(self) -> Response {
        self.into_response_of(HeaderValue::from_static("application/json"))
    }

    fn into_response_of(self, content_type: HeaderValue) -> Response {
        if !self.0.has_code() {
            return self.0.into_response();
        }
        let mut line = Vec::new();
        write_error(&self.0, &mut line);
        ([(header::CONTENT_TYPE, content_type)], line).into_response()
    }
}

impl IntoResponse for ErrorEnvelope {
    fn into_response(self) -> Response {
        self.into_response_of(NDJSON)
    }
}
