//! The response to a write of version 2: a line for each event and a last line.

use super::{
    http_client::StoreHttpClient,
    refusal::{schema_failure, store_error},
};
use es_event::{EventCandidate, RecordedEvent, StreamFailure, StreamLine, StreamLineParser};
use es_store::{AppendError, Conflict};

/// Parses the events of a response, and checks that they are the candidates. Without the last line, or with other events than the candidates, the
/// outcome is unknown.
pub(super) fn parse_recorded_events(
    http_client: &StoreHttpClient,
    body: &[u8],
    candidates: &[EventCandidate],
) -> Result<Vec<RecordedEvent>, AppendError> {
    let unknown = |reason: String| AppendError::Unknown {
        address: http_client.address.clone(),
        reason: http_client.printable(&reason),
    };
    let mut parser = StreamLineParser::default();
    let mut recorded = Vec::with_capacity(candidates.len());
    for line in body.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line = parser.parse(line);
        match line.map_err(|error| unknown(error.to_string()))? {
            StreamLine::Heartbeat => {}
            StreamLine::Event(event) => recorded.push(*event),
            StreamLine::Failure(failure) => return Err(append_error(http_client, &failure)),
            StreamLine::Error(text) => return Err(unknown(text)),
            StreamLine::End => {
                check_recorded(&recorded, candidates).map_err(unknown)?;
                return Ok(recorded);
            }
        }
    }
    Err(unknown("the response broke off".to_owned()))
}

/// Checks that the recorded events are the candidates, and that their hashes form a chain.
fn check_recorded(recorded: &[RecordedEvent], candidates: &[EventCandidate]) -> Result<(), String> {
    if recorded.len() != candidates.len() {
        let (received, sent) = (recorded.len(), candidates.len());
        return Err(format!(
            "the response has {received} events for {sent} candidates"
        ));
    }
    let mut before: Option<&RecordedEvent> = None;
    for (event, candidate) in recorded.iter().zip(candidates) {
        let is_same = event.source == candidate.source
            && event.subject == candidate.subject
            && event.event_type == candidate.event_type;
        if !is_same {
            return Err(format!("event {} differs from its candidate", event.id));
        }
        if let Some(before) = before
            && before.id.next() != Some(event.id)
        {
            return Err(format!("event {} follows event {}", event.id, before.id));
        }
        let predecessor = before.map_or(event.predecessor_hash, |before| before.hash);
        event
            .verify(predecessor)
            .map_err(|broken| broken.to_string())?;
        before = Some(event);
    }
    Ok(())
}

/// Converts the failure of a write.
fn append_error(http_client: &StoreHttpClient, failure: &StreamFailure) -> AppendError {
    if failure.short_code() == "precondition-violated" {
        let index = failure.details.get("precondition");
        let precondition = index.and_then(|index| usize::try_from(index.as_u64()?).ok());
        return Conflict { precondition }.into();
    }
    match schema_failure(failure) {
        Some(conflict) => conflict.into(),
        None => store_error(http_client, failure).into(),
    }
}
