//! The routes for the personal data of one person: find, export, erase and verify.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use es_event::Subject;
use es_personal::{PersonalData, StoredForm, person_of};
use es_store::StoreError;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::authorization::RequireOperator;
use crate::{HttpContext, Problem, problem::kind};

pub(crate) const PATH: &str = "/actuator/personal-data";

/// An action of an operator on the personal data of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PersonalDataAction {
    Find,
    Export,
    Erase,
    Verify,
}

impl PersonalDataAction {
    pub(crate) const ALL: [Self; 4] = [Self::Find, Self::Export, Self::Erase, Self::Verify];

    /// Returns the name in paths and on the command line.
    pub(crate) const fn verb(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Export => "export",
            Self::Erase => "erase",
            Self::Verify => "verify",
        }
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Self::Find => "Lists the personal data of a person in the events, without the values.",
            Self::Export => "Returns the personal data of a person in the events, with the values.",
            Self::Erase => {
                "Erases the personal data of a person for good: destroys the key, and rebuilds what holds plain values."
            }
            Self::Verify => "Reports whether personal data of a person can still be read.",
        }
    }

    pub(crate) fn path(self) -> String {
        format!("{PATH}/{}", self.verb())
    }

    pub(crate) const fn is_change(self) -> bool {
        matches!(self, Self::Erase)
    }
}

/// The person whose data is meant.
#[derive(Debug, Deserialize)]
pub(crate) struct PersonParameters {
    subject: String,
}

pub(crate) fn routes() -> impl Iterator<Item = (String, MethodRouter<Arc<HttpContext>>)> {
    PersonalDataAction::ALL.into_iter().map(|action| {
        let handle = move |_: RequireOperator,
                           person: Result<Query<PersonParameters>, QueryRejection>,
                           State(context): State<Arc<HttpContext>>| async move {
            match act(action, person, &context).await {
                Ok(answer) => Json(answer).into_response(),
                Err(problem) => Response::from(problem.into_response()),
            }
        };
        let route = if action.is_change() {
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
) -> Result<Value, Problem> {
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
    let answer = match action {
        PersonalDataAction::Find => find(data, person, false).await,
        PersonalDataAction::Export => find(data, person, true).await,
        PersonalDataAction::Erase => erase(data, person).await,
        PersonalDataAction::Verify => verify(data, person).await,
    };
    answer.map_err(Problem::from)
}

async fn find(data: &PersonalData, person: Uuid, with_values: bool) -> Result<Value, StoreError> {
    let events = data.find(person, with_values).await?;
    Ok(json!({ "person": person, "events": events }))
}

async fn erase(data: &PersonalData, person: Uuid) -> Result<Value, StoreError> {
    tracing::warn!(%person, "an operator erases the personal data of a person");
    let report = data.erase(person).await?;
    let plain = plain_events(data, person).await?;
    Ok(json!({
        "person": person,
        "done": report.done,
        "unreached": report.unreached,
        "plainEvents": plain,
    }))
}

async fn verify(data: &PersonalData, person: Uuid) -> Result<Value, StoreError> {
    let records = data.find(person, false).await?;
    let count = |form: StoredForm| records.iter().filter(|record| record.state == form).count();
    let plain = plain_events(data, person).await?;
    Ok(json!({
        "person": person,
        "isErased": count(StoredForm::Sealed) == 0 && plain.is_empty(),
        "sealed": count(StoredForm::Sealed),
        "erased": count(StoredForm::Erased),
        "plainEvents": plain,
    }))
}

/// Returns the events that hold values of the person which were never sealed, and cannot be erased.
async fn plain_events(data: &PersonalData, person: Uuid) -> Result<Vec<String>, StoreError> {
    let records = data.find(person, false).await?.into_iter();
    let plain = records.filter(|record| record.state == StoredForm::Plain);
    Ok(plain.map(|record| record.event.to_string()).collect())
}
