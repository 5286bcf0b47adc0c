//! The route of dry runs: an operator learns what a command would do, now or in the past. Nothing is written.

use std::sync::Arc;

use axum::{
    Json,
    extract::{
        Path, Query, Request, State,
        rejection::{PathRejection, QueryRejection},
    },
    routing::{MethodRouter, post},
};
use es_command::command::CommandDescriptor;
use es_event::Caller;

use super::{
    authorization::RequireOperator,
    dry_runner::{AT, DryRunner, OWNER, ROLE},
};
use crate::{
    HttpContext, Problem,
    command::{check_content_type, read_body},
    problem::kind,
};

/// The path of dry runs.
pub(crate) const PATH: &str = "/actuator/commands/{name}/dry-run";

/// The parameters in the query of the address.
type QueryPairs = Query<Vec<(String, String)>>;

/// Returns the route of dry runs of these commands.
pub(super) fn route(commands: &[CommandDescriptor]) -> (String, MethodRouter<Arc<HttpContext>>) {
    let commands: Arc<[CommandDescriptor]> = commands.into();
    let handle = async move |_: RequireOperator,
                             State(context): State<Arc<HttpContext>>,
                             name: Result<Path<String>, PathRejection>,
                             parameters: Result<QueryPairs, QueryRejection>,
                             request: Request| {
        let runner = DryRunner::new(Arc::clone(&commands), &context);
        let Ok(Path(name)) = name else {
            let detail = "the name in the path is no UTF-8 text";
            return Err(Problem::new(kind::NOT_FOUND, detail));
        };
        let command = runner.find_command(&name)?;
        check_content_type(request.headers())?;
        let (parts, body) = request.into_parts();
        let body = read_body(body, context.limits).await?;
        let (at, caller) = read_parameters(parameters)?;
        let response = runner
            .decide_command(command, at.as_deref(), &body, &caller, &parts)
            .await?;
        Ok(Json(response))
    };
    (PATH.to_owned(), post(handle))
}

/// Reads the last event of the past, and the caller as whom the command is decided, from the query.
fn read_parameters(
    parameters: Result<QueryPairs, QueryRejection>,
) -> Result<(Option<String>, Caller), Problem> {
    let Query(parameters) =
        parameters.map_err(|error| Problem::new(kind::INVALID_PARAMETER, error.body_text()))?;
    let (mut at, mut roles, mut owner) = (None, Vec::new(), None);
    for (name, value) in parameters {
        match name.as_str() {
            AT if at.is_none() => at = Some(value),
            OWNER if owner.is_none() => owner = Some(value),
            ROLE => roles.push(value),
            _ => {
                let detail = format!("the parameters are {AT} and {OWNER}, once, and {ROLE}");
                return Err(Problem::new(kind::INVALID_PARAMETER, detail));
            }
        }
    }
    let roles = roles.iter().map(String::as_str);
    Ok((at, Caller::assumed(roles, owner.as_deref())))
}
