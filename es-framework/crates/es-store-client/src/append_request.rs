//! Appends events. Once the request may have arrived, only a complete response tells the outcome.

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{
    api_version::DataRoute,
    append_stream,
    detected_version::ApiVersion,
    event_reader::encode_request_body,
    http_client::StoreHttpClient,
    refusal::{is_definite, schema_conflict},
    request_bodies::WriteEventsBody,
};
use es_event::{BrokenChain, EventCandidate, EventId, EventTime, Hash, RecordedEvent};
use es_store::{AppendError, Conflict, Precondition, StoreError};

const CONFLICT: &str = "state conflict: precondition failed";

/// Appends events and returns them as the server recorded them.
pub(super) async fn append(
    http_client: &StoreHttpClient,
    candidates: Vec<EventCandidate>,
    preconditions: &[Precondition],
) -> Result<Vec<RecordedEvent>, AppendError> {
    let version = http_client.version().await?;
    let body = encode_request_body(&WriteEventsBody::new(&candidates, preconditions, version))?;
    let empty = http_client.authorized(version, DataRoute::Write("write-events"));
    let request = StoreHttpClient::with_json(empty, body);
    let within = http_client.settings.request_time;
    let unknown = |reason: String| AppendError::Unknown {
        address: http_client.address.clone(),
        reason,
    };
    let writing = async {
        let sent = http_client.send_with_failover(request, within).await;
        let response = sent.map_err(|error| {
            if error.may_have_arrived {
                return unknown(error.reason);
            }
            http_client.unavailable(error.reason).into()
        })?;
        if response.status() != StatusCode::OK {
            return Err(append_error_of(http_client, response).await);
        }
        let body = http_client.read_body(response, http_client.settings.response_limit);
        let body = body.await.map_err(unknown)?;
        match version {
            ApiVersion::V1 => parse_recorded_events(&body, candidates).map_err(unknown),
            ApiVersion::V2 => append_stream::parse_recorded_events(http_client, &body, &candidates),
        }
    };
    let outcome = timeout(within, writing).await;
    outcome.unwrap_or_else(|_| Err(unknown(format!("no complete response within {within:?}"))))
}

/// An event of the response. The older dialect has neither data nor hash.
#[derive(Deserialize)]
struct RecordedEventPayload {
    id: EventId,
    time: EventTime,
    source: String,
    subject: String,
    r#type: String,
    predecessorhash: Hash,
    data: Option<Box<RawValue>>,
    hash: Option<Hash>,
}

/// Parses the events of a response of version 1. A response that does not match the candidates leaves the outcome unknown.
fn parse_recorded_events(
    body: &[u8],
    candidates: Vec<EventCandidate>,
) -> Result<Vec<RecordedEvent>, String> {
    let payloads: Vec<RecordedEventPayload> = serde_json::from_slice(body)
        .map_err(|error| format!("the response is malformed: {error}"))?;
    if payloads.len() != candidates.len() {
        let (received, sent) = (payloads.len(), candidates.len());
        return Err(format!(
            "the response has {received} events for {sent} candidates"
        ));
    }
    let mut recorded: Vec<RecordedEvent> = Vec::with_capacity(payloads.len());
    for (payload, candidate) in payloads.into_iter().zip(candidates) {
        let has_hash = payload.hash.is_some();
        let event = complete_event(payload, candidate)?;
        if let Some(before) = recorded.last_mut() {
            if before.id.next() != Some(event.id) {
                return Err(format!("event {} follows event {}", event.id, before.id));
            }
            if !has_hash {
                // The server may have rewritten the data, so only its own hash is right.
                before.hash = event.predecessor_hash;
            }
            let broken = |broken: BrokenChain| broken.to_string();
            event.verify(before.hash).map_err(broken)?;
        }
        recorded.push(event);
    }
    Ok(recorded)
}

/// Completes an event of the response with the data that was sent. Servers of the older generation store
/// data byte for byte, and later reads check it.
fn complete_event(
    payload: RecordedEventPayload,
    mut candidate: EventCandidate,
) -> Result<RecordedEvent, String> {
    let is_same = *payload.source == *candidate.source
        && payload.subject == candidate.subject.as_str()
        && payload.r#type == candidate.event_type.as_str();
    if !is_same {
        return Err(format!("event {} differs from its candidate", payload.id));
    }
    if let Some(data) = payload.data {
        candidate.data = data;
    }
    // Only servers of the older generation leave out the hash. They compute all hashes by the first hash
    // version.
    let version = payload.hash.map(|hash| hash.version());
    let event = RecordedEvent::record_with_version(
        version.unwrap_or_default(),
        candidate,
        payload.id,
        payload.time,
        payload.predecessorhash,
    );
    match payload.hash {
        Some(hash) if hash != event.hash => Err(format!(
            "event {} has the hash {hash}, but its content has {}",
            event.id, event.hash
        )),
        _ => Ok(event),
    }
}

/// Reads the error of a response, and tells definite errors from unknown outcomes.
async fn append_error_of(http_client: &StoreHttpClient, response: Response) -> AppendError {
    let status = response.status();
    match http_client.error_of(response).await {
        StoreError::Refused(text) if status == StatusCode::CONFLICT && text.contains(CONFLICT) => {
            Conflict::default().into()
        }
        StoreError::Refused(text) => match schema_conflict(status, &text) {
            Some(conflict) => conflict.into(),
            None => StoreError::Refused(text).into(),
        },
        error if is_definite(status) => error.into(),
        StoreError::Unavailable { address, reason } | StoreError::Corrupt { address, reason } => {
            AppendError::Unknown { address, reason }
        }
        error => AppendError::Unknown {
            address: http_client.address.clone(),
            reason: error.to_string(),
        },
    }
}
