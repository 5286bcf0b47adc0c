//! The dry runs of the console.

use axum::http::request::Parts;
use es_console::DryRunService;
use futures_util::future::{BoxFuture, FutureExt as _};

use super::dry_runner::{DryRunResponse, DryRunner};
use crate::http::Problem;

impl DryRunService for DryRunner {
    fn decide<'a>(
        &'a self,
        command: &'a str,
        at: &'a str,
        json: &'a str,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<String, String>> {
        async move {
            let command = self.find_command(command)?;
            let at = Some(at).filter(|at| !at.is_empty());
            let response = self.run(command, at, json.as_bytes(), request).await?;
            to_json(&response)
        }
        .map(|result: Result<String, Problem>| result.map_err(|problem| problem.to_json()))
        .boxed()
    }
}

fn to_json(response: &DryRunResponse) -> Result<String, Problem> {
    serde_json::to_string(response).map_err(|error| Problem::internal(&error))
}
