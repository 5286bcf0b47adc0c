//! The problems for requests that exceed a limit.

use std::time::Duration;

use super::{Problem, kind};

impl Problem {
    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(
            kind::BODY_TOO_LARGE,
            format!("the body may have at most {limit} bytes"),
        )
    }

    pub(crate) fn too_slow() -> Self {
        Self::new(
            kind::BODY_TOO_SLOW,
            "the body was not received in full within the time limit",
        )
    }

    pub(crate) fn address_too_long(limit: usize) -> Self {
        Self::new(
            kind::ADDRESS_TOO_LONG,
            format!("a path and its parameters may have at most {limit} bytes together"),
        )
    }

    /// Returns the problem for a request to a service that is open on this machine alone.
    pub(crate) fn foreign_host() -> Self {
        Self::new(
            kind::FOREIGN_HOST,
            "this service answers to localhost and loopback addresses only, because it does not authenticate its callers: if a proxy before it does, start it with HTTP_OPEN=true",
        )
    }

    pub(crate) fn headers_too_large(limit: usize) -> Self {
        Self::headers(format!(
            "all headers together may have at most {limit} bytes"
        ))
    }

    pub(crate) fn too_many_headers(limit: usize) -> Self {
        Self::headers(format!("a request may have at most {limit} headers"))
    }

    fn headers(detail: String) -> Self {
        Self::new(kind::HEADERS_TOO_LARGE, detail)
    }

    pub(crate) fn too_busy() -> Self {
        Self::new(
            kind::TOO_BUSY,
            "others are served at the moment; nothing was done",
        )
    }

    pub(crate) fn share_in_use() -> Self {
        Self::new(
            kind::SHARE_IN_USE,
            "other requests of this caller use the whole share that one caller has; nothing was done",
        )
    }

    pub(crate) fn took_too_long(limit: Duration) -> Self {
        Self::new(
            kind::TOOK_TOO_LONG,
            format!("there was no answer within {} seconds", limit.as_secs()),
        )
    }

    /// Returns the problem for a request that exceeded its time. Its command may still be executed.
    pub(crate) fn ended_midway(limit: Duration) -> Self {
        Self::new(
            kind::OUTCOME_UNKNOWN,
            format!(
                "there was no outcome within {} seconds: look whether it is there before you send it again",
                limit.as_secs()
            ),
        )
    }
}
