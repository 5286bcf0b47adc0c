//! The routes for the personal data of one person: find, export, erase and verify.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, Request, State, rejection::QueryRejection},
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use es_event::Subject;
use es_personal::{Verification, person_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::authorization::RequireOperator;
use crate::{
    HttpContext, Problem,
    command::{check_content_type, read_body},
    problem::kind,
};

pub(crate) const PATH: &str = "/actuator/personal-data";

/// An action of an operator on the personal data of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PersonalDataAction {
    Find,
    Export,
    Erase,
    Verify,
    /// The verification with a search for values that the operator sends.
    Search,
}

impl PersonalDataAction {
    pub(crate) const ALL: [Self; 5] = [
        Self::Find,
        Self::Export,
        Self::Erase,
        Self::Verify,
        Self::Search,
    ];

    /// Returns the name in paths and on the command line.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Export => "export",
            Self::Erase => "erase",
            Self::Verify | Self::Search => "verify",
        }
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Find => {
                "Lists all that is stored about a person in events and read models, without the values."
            }
            Self::Export => {
                "Returns all that is stored about a person in events and read models, with the values."
            }
            Self::Erase => {
                "Erases the personal data of a person for good: destroys the key, and rebuilds what holds plain values."
            }
            Self::Verify => "Reports whether personal data of a person can still be read.",
            Self::Search => {
                "Reports whether personal data of a person can still be read, and which events and read models contain values that must be gone."
            }
        }
    }

    pub(crate) fn path(self) -> String {
        format!("{PATH}/{}", self.verb())
    }

    pub(crate) const fn is_post(self) -> bool {
        matches!(self, Self::Erase | Self::Search)
    }
}

/// The result of an erasure, with the verification that followed it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PersonErasure {
    /// The parts that dropped the plain values.
    done: Vec<String>,
    /// The parts that the erasure could not reach, each with the reason.
    unreached: Vec<String>,
    verification: Verification,
}

/// The person whose data is meant.
#[derive(Debug, Deserialize)]
pub(crate) struct PersonParameters {
    subject: String,
}

pub(crate) fn routes() -> impl Iterator<Item = (String, MethodRouter<Arc<HttpContext>>)> {
    PersonalDataAction::ALL.into_iter().map(|action| {
        let handle = async move |_: RequireOperator,
                                 person: Result<Query<PersonParameters>, QueryRejection>,
                                 State(context): State<Arc<HttpContext>>,
                                 request: Request| {
            let answer = act(action, person, &context, request).await;
            answer.unwrap_or_else(|problem| Response::from(problem.into_response()))
        };
        let route = if action.is_post() {
            post(handle)
        } else {
            get(handle)
        };
        (action.path(), route)
    })
}

async fn act(
    action: PersonalDataAction,
    person: Result<Query<PersonParameters>, QueryRejection>,
    context: &HttpContext,
    request: Request,
) -> Result<Response, Problem> {
    let invalid = |detail: String| Problem::new(kind::INVALID_PARAMETER, detail);
    let Query(PersonParameters { subject }) = person.map_err(|error| invalid(error.body_text()))?;
    let subject: Subject = subject
        .parse()
        .map_err(|error| invalid(format!("{error}")))?;
    let person = person_of(&subject).map_err(|error| invalid(error.to_string()))?;
    let Some(data) = &context.personal_data else {
        let detail = "no event of this application holds personal data";
        return Err(Problem::new(kind::NOT_FOUND, detail));
    };
    if !matches!(
        action,
        PersonalDataAction::Find | PersonalDataAction::Export
    ) && let Some(unknown) = data.find_unknown_person(&subject, person).await?
    {
        return Err(Problem::new(kind::NOT_FOUND, unknown.to_string()));
    }
    match action {
        PersonalDataAction::Find => respond(StatusCode::OK, data.find(person, false).await?),
        PersonalDataAction::Export => respond(StatusCode::OK, data.find(person, true).await?),
        PersonalDataAction::Verify => respond(StatusCode::OK, data.verify(person, &[]).await?),
        PersonalDataAction::Search => {
            let values = read_values(request, context).await?;
            let verification = data.verify(person, &values).await?;
            let is_clean = verification.found.is_empty();
            let status = if is_clean {
                StatusCode::OK
            } else {
                StatusCode::CONFLICT
            };
            respond(status, verification)
        }
        PersonalDataAction::Erase => {
            tracing::warn!(%person, "an operator erases the personal data of a person");
            let (report, verification) = data.erase_and_verify(person).await?;
            // The application goes on to drop what is not reached.
            let is_reached = report.unreached.is_empty();
            let status = if is_reached {
                StatusCode::OK
            } else {
                StatusCode::ACCEPTED
            };
            let erasure = PersonErasure {
                done: report.done,
                unreached: report.unreached,
                verification,
            };
            respond(status, erasure)
        }
    }
}

fn respond(status: StatusCode, answer: impl Serialize) -> Result<Response, Problem> {
    Ok((status, Json(answer)).into_response())
}

/// Reads the values that must be gone. They are in the body, because addresses are logged.
async fn read_values(request: Request, context: &HttpContext) -> Result<Vec<String>, Problem> {
    check_content_type(request.headers())?;
    let body = read_body(request.into_body(), context.limits).await?;
    let invalid = |_| Problem::new(kind::MALFORMED_BODY, "the body is no JSON list of texts");
    serde_json::from_slice(&body).map_err(invalid)
}
