//! The dry runs of the console.

use axum::http::request::Parts;
use es_command::command::DryRun;
use es_console::{DryRunProblem, DryRunService};
use es_event::Caller;
use futures_util::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;

use super::dry_runner::DryRunner;
use crate::Problem;

impl DryRunService for DryRunner {
    fn decide<'a>(
        &'a self,
        command: &'a str,
        at: &'a str,
        json: &'a str,
        caller: &'a Caller,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<DryRun<DryRunProblem>, DryRunProblem>> {
        async move {
            let command = self.find_command(command)?;
            let at = Some(at).filter(|at| !at.is_empty());
            // A test can repeat a whole second.
            let now = self.now();
            let time = Timestamp::from_second(now.as_second()).unwrap_or(now);
            let runner = self.without_personal_data();
            let run = runner.decide_command(command, at, time, json.as_bytes(), caller, request);
            Ok(run.await?.map_rejection(DryRunProblem::from))
        }
        .map(|result: Result<_, Problem>| result.map_err(DryRunProblem::from))
        .boxed()
    }
}

impl From<Problem> for DryRunProblem {
    fn from(problem: Problem) -> Self {
        Self {
            status: problem.status(),
            name: problem.name(),
            title: problem.title(),
            detail: problem.detail().to_owned(),
            errors: problem.into_violations(),
        }
    }
}
