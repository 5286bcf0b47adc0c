//! `POST /api/v2/data/write-events` writes all events of a request or none.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::Response};
use es_event::checked_json::check_members;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    error_envelope::ErrorEnvelope,
    pending_response::respond_when_done,
    strict_body::{OptionalMember, null_at, parse_object},
    values::{OptionalText, parse_event_type, parse_written_subject, require},
    write_preconditions::{PreconditionBody, add_precondition},
};
use crate::{
    api_error::ApiError, auth::RequireApiToken, conditional_write::ConditionalWrite,
    envelope::END_LINE, error_code::ErrorCode, json_body::JsonText,
    server_settings::ServerSettings, source::check_source, state::ServerState,
    stream_format::StreamFormat, strict_object::StrictObject,
};
use es_event::{EventCandidate, InvalidTrace, TraceContext, compact_object};

/// The body of write-events.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WriteBody {
    events: OptionalMember<Vec<StrictObject<CandidateMembers>>>,
    preconditions: OptionalMember<Vec<StrictObject<PreconditionBody>>>,
}

/// The members of an event to write, before they are checked.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CandidateMembers {
    source: OptionalText,
    subject: OptionalText,
    r#type: OptionalText,
    data: OptionalMember<Box<RawValue>>,
    traceparent: OptionalText,
    tracestate: OptionalText,
}

pub(super) async fn write_events(
    _: RequireApiToken,
    State(server): State<Arc<ServerState>>,
    body: JsonText,
) -> Result<Response, ErrorEnvelope> {
    let write = parse_write(&body, &server.settings)?;
    drop(body);
    let heartbeat = server.settings.heartbeat;
    respond_when_done(execute(server, write), heartbeat).await
}

/// Executes a write, and returns the lines of the response.
async fn execute(server: Arc<ServerState>, write: ConditionalWrite) -> Result<Vec<u8>, ApiError> {
    let recorded = write.check_and_append(&server).await?;
    let mut lines = Vec::new();
    for event in &recorded {
        StreamFormat::V2.write_event(event, &server.settings, &mut lines);
    }
    lines.extend_from_slice(END_LINE);
    Ok(lines)
}

/// Parses a write, and rejects invalid values.
fn parse_write(body: &JsonText, settings: &ServerSettings) -> Result<ConditionalWrite, ApiError> {
    let limit = settings.events_limit;
    if body.longest_list() > limit {
        let text = format!("a write has at most {limit} events and as many preconditions");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    let WriteBody {
        events,
        preconditions,
    } = parse_object(body.bytes(), "")?;
    let events = events.0.unwrap_or_default();
    let preconditions = preconditions.0.unwrap_or_default();
    let members = body.check_members();
    if events.is_empty() {
        return Err(ApiError::of_code(
            ErrorCode::EventsMissing,
            "events are missing",
        ));
    }
    let mut write = ConditionalWrite::default();
    for (event, index) in events.into_iter().zip(0_usize..) {
        let at = format!("/events/{index}");
        let candidate = check_candidate(event.0, &at, settings, members.is_ok());
        write
            .candidates
            .push(candidate.map_err(|error| error.with_detail("index", index))?);
    }
    for (precondition, index) in preconditions.into_iter().zip(0_usize..) {
        let at = format!("/preconditions/{index}");
        let added = add_precondition(&mut write, precondition.0, &at);
        added.map_err(|error| error.with_detail("index", index))?;
    }
    members?;
    Ok(write)
}

fn check_candidate(
    members: CandidateMembers,
    at: &str,
    settings: &ServerSettings,
    has_unique_members: bool,
) -> Result<EventCandidate, ApiError> {
    let source = require("source", members.source, ErrorCode::SourceMissing)?;
    check_source(&source, settings.dialect)
        .map_err(|reason| ApiError::of_code(ErrorCode::SourceMalformed, reason))?;
    let subject = parse_written_subject(members.subject)?;
    let event_type = parse_event_type(members.r#type)?;
    let data = check_data(members.data.0, at)?;
    if !has_unique_members {
        check_members(&data).map_err(|error| ApiError::of_code(ErrorCode::DataMalformed, error))?;
    }
    let trace = check_trace(&members.traceparent, &members.tracestate)?;
    Ok(EventCandidate {
        source: source.into(),
        subject,
        event_type,
        data,
        trace,
    })
}

fn check_data(data: Option<Box<RawValue>>, at: &str) -> Result<Box<RawValue>, ApiError> {
    let Some(data) = data else {
        return Err(ApiError::of_code(ErrorCode::DataMissing, "data is missing"));
    };
    if data.get() == "null" {
        return Err(ApiError::invalid_request(null_at(&format!("{at}/data"))));
    }
    let compact = compact_object(&data);
    compact.map_err(|error| ApiError::of_code(ErrorCode::DataMalformed, error.to_string()))
}

fn check_trace(
    parent: &OptionalText,
    state: &OptionalText,
) -> Result<Option<TraceContext>, ApiError> {
    let (parent, state) = (parent.0.as_deref(), state.0.as_deref());
    TraceContext::new(parent, state).map_err(|error| {
        let code = match error {
            InvalidTrace::Parent => ErrorCode::TraceparentMalformed,
            InvalidTrace::State if parent.is_none() => ErrorCode::TracestateWithoutTraceparent,
            InvalidTrace::State => ErrorCode::TracestateMalformed,
        };
        ApiError::of_code(code, error.to_string())
    })
}
