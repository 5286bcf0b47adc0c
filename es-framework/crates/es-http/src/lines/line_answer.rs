//! The answer to one line of a request with many commands.

use axum::{body::Bytes, http::StatusCode};
use es_command::command::CommandOutcome;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::Problem;

/// The answer to one command: a line of the response.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CommandLineAnswer")]
pub(crate) struct LineAnswer {
    /// The number of the line with the command. The first line is 1.
    line: u64,
    /// The status that the response would have if the command had been sent alone.
    status: u16,
    /// The path of the created subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// The id of the last event that was written. It is durable.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_position: Option<String>,
    /// The reply of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    reply: Option<Box<RawValue>>,
    /// The reason for which the command was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

impl LineAnswer {
    pub(super) fn new(line: u64, result: Result<CommandOutcome, Problem>) -> Self {
        match result {
            Ok(outcome) => Self {
                line,
                status: outcome_status(&outcome).as_u16(),
                location: outcome.created.then(|| outcome.subject.to_string()),
                event_position: outcome.position.map(|position| position.to_string()),
                reply: outcome.reply,
                problem: None,
            },
            Err(problem) => Self {
                line,
                status: problem.status().as_u16(),
                location: None,
                event_position: None,
                reply: None,
                problem: Some(problem),
            },
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.status >= StatusCode::BAD_REQUEST.as_u16()
    }

    /// Returns the line of the response, with its line break.
    pub(super) fn to_line(&self) -> Bytes {
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.push(b'\n');
        json.into()
    }
}

/// Returns `201` for a created subject, `200` for a reply, or `204`.
pub(crate) fn outcome_status(outcome: &CommandOutcome) -> StatusCode {
    match (outcome.created, &outcome.reply) {
        (true, _) => StatusCode::CREATED,
        (false, Some(_)) => StatusCode::OK,
        (false, None) => StatusCode::NO_CONTENT,
    }
}
