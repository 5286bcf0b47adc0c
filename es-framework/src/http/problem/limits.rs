//! What is told to those who ask too much.

use std::time::Duration;

use axum::http::StatusCode;

use super::Problem;

impl Problem {
    pub(in crate::http) fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body-too-large",
            "The body is too large",
            format!("the body may have at most {limit} bytes"),
        )
    }

    pub(in crate::http) fn too_slow() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "body-too-slow",
            "The body did not come in time",
            "the body was not received in full within the time limit",
        )
    }

    pub(in crate::http) fn address_too_long(limit: usize) -> Self {
        Self::new(
            StatusCode::URI_TOO_LONG,
            "address-too-long",
            "The address is too long",
            format!("a path and its parameters may have at most {limit} bytes together"),
        )
    }

    pub(in crate::http) fn headers_too_large(limit: usize) -> Self {
        Self::headers(format!(
            "all headers together may have at most {limit} bytes"
        ))
    }

    pub(in crate::http) fn too_many_headers(limit: usize) -> Self {
        Self::headers(format!("a request may have at most {limit} headers"))
    }

    fn headers(detail: String) -> Self {
        Self::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "headers-too-large",
            "The headers are too large",
            detail,
        )
    }

    pub(in crate::http) fn too_busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too-busy",
            "The service has too much to do",
            "others are served at the moment; nothing was done",
        )
        .retry_later()
    }

    pub(in crate::http) fn took_too_long(limit: Duration) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "took-too-long",
            "It took too long",
            format!("there was no answer within {} seconds", limit.as_secs()),
        )
        .retry_later()
    }

    /// A command that did not end in time may be carried out all the same.
    pub(in crate::http) fn ended_midway(limit: Duration) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "outcome-unknown",
            "It is unknown whether the command was carried out",
            format!(
                "there was no outcome within {} seconds: look whether it is there before you send it again",
                limit.as_secs()
            ),
        )
        .retry_later()
    }
}
