//! The route with which operators claim the unique values of events that are older than their rules.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    routing::{MethodRouter, post},
};
use es_command::unique::ClaimRange;

use super::authorization::RequireOperator;
use crate::{HttpContext, Problem, problem::kind};

pub(crate) const PATH: &str = "/actuator/unique-values/claim";

pub(crate) const SUMMARY: &str =
    "Claims the unique values of the next events that are older than their rules.";
pub(crate) const DESCRIPTION: &str = "Reports values that two subjects have, and changes nothing about them. Repeat it with `last` of the answer as `after` and the same `until` until `isComplete`.";

pub(super) fn route() -> (String, MethodRouter<Arc<HttpContext>>) {
    let handle = async |_: RequireOperator,
                        State(context): State<Arc<HttpContext>>,
                        parameters: Result<Query<ClaimRange>, QueryRejection>| {
        let Query(range) =
            parameters.map_err(|error| Problem::new(kind::INVALID_PARAMETER, error.body_text()))?;
        let report = context.command_resources.claim_recorded_values(range);
        Ok::<_, Problem>(Json(report.await?))
    };
    (PATH.to_owned(), post(handle))
}
