//! The preconditions of a write.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    options::StrictRecursiveOptions,
    strict_body::{OptionalMember, OptionalObject, null_at, parse_object},
    values::{OptionalText, parse_event_id, parse_written_subject, require},
};
use crate::{api_error::ApiError, conditional_write::ConditionalWrite, error_code::ErrorCode};
use es_event::Subject;
use es_eventql::EventQlQuery;
use es_store::Precondition;

/// A precondition. Its type decides about the members of its payload.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PreconditionBody {
    r#type: OptionalText,
    payload: OptionalMember<Box<RawValue>>,
}

/// The payload of a precondition on a subject.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SubjectPayload {
    subject: OptionalText,
    options: OptionalObject<StrictRecursiveOptions>,
}

/// The payload of a precondition on the last event of a subject.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SubjectOnEventIdPayload {
    subject: OptionalText,
    event_id: OptionalText,
    options: OptionalObject<StrictRecursiveOptions>,
}

/// The payload of a precondition on an EventQL query.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct QueryPayload {
    query: OptionalText,
}

/// The subjects that a precondition is about.
enum Scope {
    Subject,
    /// The subject and all below it.
    Subtree,
}

impl Scope {
    fn from_options(options: OptionalObject<StrictRecursiveOptions>) -> Self {
        if options.into_object().unwrap_or_default().is_recursive() {
            Self::Subtree
        } else {
            Self::Subject
        }
    }
}

/// Adds a precondition of the request to a write. `at` is its JSON pointer.
pub(super) fn add_precondition(
    write: &mut ConditionalWrite,
    body: PreconditionBody,
    at: &str,
) -> Result<(), ApiError> {
    let code = ErrorCode::PreconditionTypeMissing;
    let name = require("type of a precondition", body.r#type, code)?;
    let payload = body.payload.0.ok_or_else(|| {
        let text = "payload of a precondition is missing";
        ApiError::of_code(ErrorCode::PayloadMissing, text)
    });
    let at = format!("{at}/payload");
    let precondition = match name.as_str() {
        "isSubjectPristine" => match parse_scope(&payload?, &at)? {
            (subject, Scope::Subject) => Precondition::SubjectIsPristine(subject),
            (subject, Scope::Subtree) => Precondition::SubtreeIsPristine(subject),
        },
        "isSubjectPopulated" => match parse_scope(&payload?, &at)? {
            (subject, Scope::Subject) => Precondition::SubjectIsPopulated(subject),
            (subject, Scope::Subtree) => Precondition::SubtreeIsPopulated(subject),
        },
        "isSubjectOnEventId" => {
            let payload: SubjectOnEventIdPayload = parse_payload(&payload?, &at)?;
            let subject = parse_written_subject(payload.subject)?;
            let id = parse_event_id(payload.event_id)?;
            match Scope::from_options(payload.options) {
                Scope::Subject => Precondition::SubjectIsOnEventId(subject, id),
                Scope::Subtree => Precondition::SubtreeIsOnEventId(subject, id),
            }
        }
        "isEventQlQueryTrue" => {
            let payload: QueryPayload = parse_payload(&payload?, &at)?;
            let query = require("query", payload.query, ErrorCode::QueryMissing)?;
            let query =
                EventQlQuery::parse(&query).map_err(|error| ApiError::malformed_query(&error))?;
            write.require_query(query);
            return Ok(());
        }
        other => {
            let error =
                ApiError::of_code(ErrorCode::PreconditionUnknown, "precondition is unknown");
            return Err(error.with_detail("value", other));
        }
    };
    write.require(precondition);
    Ok(())
}

fn parse_payload<T: serde::de::DeserializeOwned>(
    payload: &RawValue,
    at: &str,
) -> Result<T, ApiError> {
    if payload.get() == "null" {
        return Err(ApiError::invalid_request(null_at(at)));
    }
    parse_object(payload.get().as_bytes(), at)
}

fn parse_scope(payload: &RawValue, at: &str) -> Result<(Subject, Scope), ApiError> {
    let payload: SubjectPayload = parse_payload(payload, at)?;
    let subject = parse_written_subject(payload.subject)?;
    Ok((subject, Scope::from_options(payload.options)))
}
