//! The dry runs of the console. The result contains the dry run as a test.

use std::sync::Arc;

use axum::http::request::Parts;
use es_command::command::{Clock, RecordingStore};
use es_console::DryRunService;
use es_event::{Caller, DecodeError};
use futures_util::future::{BoxFuture, FutureExt as _};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    copied_test::DryRunTestSource,
    dry_runner::{DryRunResponse, DryRunner},
};
use crate::{Problem, problem::kind};

/// The result of a dry run, and its test.
#[derive(Debug, Serialize)]
struct DryRunWithTest {
    #[serde(flatten)]
    response: DryRunResponse,
    test: CopiedTest,
}

/// The source code of a test, or the reason for which there is none.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum CopiedTest {
    Code(String),
    Reason(String),
}

impl DryRunService for DryRunner {
    fn decide<'a>(
        &'a self,
        command: &'a str,
        at: &'a str,
        json: &'a str,
        caller: &'a Caller,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<String, String>> {
        async move {
            let at = Some(at).filter(|at| !at.is_empty());
            let run = self.run_as_test(command, at, json, caller, request).await?;
            serde_json::to_string(&run).map_err(|error| Problem::log_internal_error(&error))
        }
        .map(|result: Result<String, Problem>| result.map_err(|problem| problem.to_json()))
        .boxed()
    }
}

impl DryRunner {
    /// Makes a dry run at a time that a test can repeat, and remembers the events that it reads.
    async fn run_as_test(
        &self,
        command: &str,
        at: Option<&str>,
        json: &str,
        caller: &Caller,
        request: &Parts,
    ) -> Result<DryRunWithTest, Problem> {
        let command = self.find_command(command)?;
        let time = whole_second(self.clock().now());
        let recorder = Arc::new(RecordingStore::new(self.store()));
        let runner = self.with_other_store_and_clock(Arc::clone(&recorder) as _, Clock::at(time));
        let response = runner
            .decide_command(command, at, json.as_bytes(), caller, request)
            .await?;
        let code = |past: Vec<_>| {
            let test = DryRunTestSource {
                command,
                json,
                caller,
                time,
                past: &past,
                response: &response,
            };
            test.to_rust()
        };
        let problem = response.problem.as_ref();
        let lacks_role = problem.is_some_and(|problem| problem.0.name() == kind::FORBIDDEN.name);
        let test = match recorder.recorded_events().map(code) {
            _ if lacks_role => CopiedTest::Reason(
                "A test has no route, which is where the role is checked.".to_owned(),
            ),
            Some(Ok(code)) => CopiedTest::Code(code),
            Some(Err(error)) => CopiedTest::Reason(undecodable(&error)),
            None => CopiedTest::Reason(RecordingStore::limit_message()),
        };
        Ok(DryRunWithTest { response, test })
    }
}

fn whole_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

fn undecodable(error: &DecodeError) -> String {
    format!("An event cannot be a part of a test: {error}.")
}
