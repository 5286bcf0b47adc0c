//! `POST /api/v1/write-events` writes all events of a request or none.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    api_error::ApiError, auth::RequireApiToken, conditional_write::ConditionalWrite,
    json_body::JsonText, server_settings::ServerSettings, source::check_source, state::ServerState,
    strict_object::StrictObject, written_subject::deserialize_written_subject,
};
use es_event::{
    Dialect, EventCandidate, EventId, EventType, RecordedEvent, Subject, TraceContext,
    compact_object,
};
use es_eventql::EventQlQuery;
use es_store::Precondition;

/// The body of write-events.
#[derive(Deserialize)]
struct WriteEventsRequest<'a> {
    #[serde(borrow)]
    events: Vec<StrictObject<WriteEventsCandidate<'a>>>,
    #[serde(default)]
    preconditions: Option<Vec<StrictObject<WriteEventsPrecondition>>>,
}

/// An event to write.
#[derive(Deserialize)]
struct WriteEventsCandidate<'a> {
    source: Arc<str>,
    #[serde(deserialize_with = "deserialize_written_subject")]
    subject: Subject,
    r#type: EventType,
    #[serde(borrow)]
    data: &'a RawValue,
    // One official client writes both names in camel case.
    #[serde(alias = "traceParent")]
    traceparent: Option<String>,
    #[serde(alias = "traceState")]
    tracestate: Option<String>,
}

/// A precondition of the write.
#[derive(Deserialize)]
#[serde(tag = "type", content = "payload", deny_unknown_fields)]
enum WriteEventsPrecondition {
    #[serde(rename = "isSubjectPristine")]
    Pristine(StrictObject<SubjectPrecondition>),
    #[serde(rename = "isSubjectPopulated")]
    Populated(StrictObject<SubjectPrecondition>),
    #[serde(rename = "isSubjectOnEventId")]
    OnEventId(StrictObject<SubjectAndEventIdPrecondition>),
    #[serde(rename = "isEventQlQueryTrue", alias = "isEventQlTrue")]
    EventQl(StrictObject<QueryPrecondition>),
}

/// The payload of a precondition on an EventQL query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryPrecondition {
    query: String,
}

/// The payload of a precondition on a subject.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubjectPrecondition {
    #[serde(deserialize_with = "deserialize_written_subject")]
    subject: Subject,
}

/// The payload of a precondition on the last event of a subject.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SubjectAndEventIdPrecondition {
    #[serde(deserialize_with = "deserialize_written_subject")]
    subject: Subject,
    event_id: EventId,
}

/// The typical length of a recorded event in a response, in bytes.
const TYPICAL_LENGTH: usize = 1 << 10;

pub(super) async fn write_events(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    body: JsonText,
) -> Result<Response, ApiError> {
    let write = parse_write(&body, &server.settings)?;
    drop(body);
    let recorded = write.check_and_append(&server).await?;
    Ok(recorded_response(&recorded, &server.settings))
}

/// Parses a write, and rejects invalid values.
fn parse_write(body: &JsonText, settings: &ServerSettings) -> Result<ConditionalWrite, ApiError> {
    let limit = settings.events_limit;
    if body.longest_list() > limit {
        return Err(ApiError::invalid_request(format!(
            "invalid request: a write has at most {limit} events and as many preconditions"
        )));
    }
    let request: WriteEventsRequest<'_> = body.parse_object()?;
    if request.events.is_empty() {
        return Err(ApiError::invalid_request(
            "invalid request: events: a write has at least one event",
        ));
    }
    let preconditions = request.preconditions.unwrap_or_default();
    let candidates = check_all(request.events, "events", |event| {
        convert_candidate(event.0, settings.dialect)
    })?;
    let mut write = ConditionalWrite::new(candidates);
    check_all(preconditions, "preconditions", |condition| {
        write.add_precondition(condition.0)
    })?;
    Ok(write)
}

/// Converts all elements. The error names the index of the first invalid one.
fn check_all<T, U>(
    elements: Vec<T>,
    name: &str,
    mut convert: impl FnMut(T) -> Result<U, String>,
) -> Result<Vec<U>, ApiError> {
    let check = |(index, element)| {
        convert(element).map_err(|reason| format!("invalid request: {name}[{index}]{reason}"))
    };
    let checked: Result<_, String> = elements.into_iter().enumerate().map(check).collect();
    checked.map_err(ApiError::invalid_request)
}

fn convert_candidate(
    wire: WriteEventsCandidate<'_>,
    dialect: Dialect,
) -> Result<EventCandidate, String> {
    check_source(&wire.source, dialect).map_err(|reason| format!(".source: {reason}"))?;
    let data = compact_object(wire.data).map_err(|error| format!(".data: {error}"))?;
    let trace = TraceContext::new(wire.traceparent.as_deref(), wire.tracestate.as_deref());
    Ok(EventCandidate {
        source: wire.source,
        subject: wire.subject,
        event_type: wire.r#type,
        data,
        trace: trace.map_err(|error| format!(": {error}"))?,
    })
}

impl ConditionalWrite {
    /// Adds a precondition of the request.
    fn add_precondition(&mut self, wire: WriteEventsPrecondition) -> Result<(), String> {
        let precondition = match wire {
            WriteEventsPrecondition::Pristine(payload) => {
                Precondition::SubjectIsPristine(payload.0.subject)
            }
            WriteEventsPrecondition::Populated(payload) => {
                Precondition::SubjectIsPopulated(payload.0.subject)
            }
            WriteEventsPrecondition::OnEventId(payload) => {
                Precondition::SubjectIsOnEventId(payload.0.subject, payload.0.event_id)
            }
            WriteEventsPrecondition::EventQl(payload) => {
                let query = EventQlQuery::parse(&payload.0.query)
                    .map_err(|error| format!(".query: {error}"))?;
                self.require_query(query);
                return Ok(());
            }
        };
        self.require(precondition);
        Ok(())
    }
}

fn recorded_response(recorded: &[RecordedEvent], settings: &ServerSettings) -> Response {
    let length = recorded.len().saturating_mul(TYPICAL_LENGTH);
    let mut body = Vec::with_capacity(length);
    body.push(b'[');
    for event in recorded {
        if body.len() > 1 {
            body.push(b',');
        }
        let signature = settings.signature_of(event, settings.dialect);
        settings
            .dialect
            .write_recorded(event, signature.as_deref(), &mut body);
    }
    body.push(b']');
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], body).into_response()
}
