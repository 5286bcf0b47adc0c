//! The port to the dry runs of the application.

use std::fmt;

use axum::http::request::Parts;
use es_event::Caller;
use futures_util::future::BoxFuture;

/// Decides on commands without an append, within the limits of commands.
#[doc(hidden)]
pub trait DryRunService: fmt::Debug + Send + Sync {
    /// Decides on the JSON text of a command that this caller sends, as of the event `at`, or as of now if `at` is
    /// empty. Returns the response of the route for dry runs as a JSON text.
    ///
    /// # Errors
    /// There is no decision. The error is a problem (RFC 9457) as a JSON text.
    fn decide<'a>(
        &'a self,
        command: &'a str,
        at: &'a str,
        json: &'a str,
        caller: &'a Caller,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<String, String>>;
}
