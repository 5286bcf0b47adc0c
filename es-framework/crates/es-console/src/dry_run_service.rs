//! The port to the dry runs of the application.

use std::fmt;

use axum::http::{StatusCode, request::Parts};
use es_command::command::{DryRun, Violation};
use es_event::Caller;
use futures_util::future::BoxFuture;

/// Decides on commands without an append, within the limits of commands.
#[doc(hidden)]
pub trait DryRunService: fmt::Debug + Send + Sync {
    /// Decides on the JSON text of a command that this caller sends, as of the event `at`, or as of now if `at` is
    /// empty. The handler's clock stands at a whole second, so that a test can repeat the dry run.
    ///
    /// # Errors
    /// There is no decision.
    fn decide<'a>(
        &'a self,
        command: &'a str,
        at: &'a str,
        json: &'a str,
        caller: &'a Caller,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<DryRun<DryRunProblem>, DryRunProblem>>;
}

/// The problem (RFC 9457) that the sender of a command would get.
#[doc(hidden)]
#[derive(Debug)]
pub struct DryRunProblem {
    /// The status of the response.
    pub status: StatusCode,
    /// The last segment of the problem's type.
    pub name: &'static str,
    /// The summary of the problem's type.
    pub title: &'static str,
    /// The sentence about this occurrence.
    pub detail: String,
    /// The values of the command that are not valid.
    pub errors: Vec<Violation>,
}
