//! Writing: once the request may have arrived, only a clear answer says what became of it.

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{connection::Connection, register::conflict, wire};
use crate::{
    event::{BrokenChain, EventCandidate, EventId, EventTime, Hash, RecordedEvent},
    store::{AppendError, Conflict, Precondition, StoreError},
};

const CONFLICT: &str = "state conflict: precondition failed";

pub(super) async fn append(
    connection: &Connection,
    candidates: Vec<EventCandidate>,
    preconditions: &[Precondition],
) -> Result<Vec<RecordedEvent>, AppendError> {
    let body = serde_json::to_vec(&wire::Write::new(&candidates, preconditions))
        .map_err(|error| StoreError::Refused(error.to_string()))?;
    let request = Connection::json(connection.post("write-events"), body);
    let within = connection.settings.request_time;
    let unknown = |reason: String| AppendError::Unknown {
        address: connection.address.clone(),
        reason,
    };
    let writing = async {
        let answer = connection.send(request, within).await;
        let answer = answer.map_err(|failure| {
            if failure.sent {
                return unknown(failure.reason);
            }
            connection.unavailable(failure.reason).into()
        })?;
        if answer.status() != StatusCode::OK {
            return Err(refusal(connection, answer).await);
        }
        let body = connection.body(answer, connection.settings.answer_limit);
        recorded(&body.await.map_err(unknown)?, candidates).map_err(unknown)
    };
    let written = timeout(within, writing).await;
    written.unwrap_or_else(|_| Err(unknown(format!("no whole answer within {within:?}"))))
}

/// The older shape of the answer lacks data and hash.
#[derive(Deserialize)]
struct Written {
    id: EventId,
    time: EventTime,
    source: String,
    subject: String,
    r#type: String,
    predecessorhash: Hash,
    data: Option<Box<RawValue>>,
    hash: Option<Hash>,
}

/// The events as they were stored. An answer that does not fit the question leaves open what was
/// written.
fn recorded(body: &[u8], candidates: Vec<EventCandidate>) -> Result<Vec<RecordedEvent>, String> {
    let written: Vec<Written> = serde_json::from_slice(body)
        .map_err(|error| format!("the answer is malformed: {error}"))?;
    if written.len() != candidates.len() {
        let (found, sent) = (written.len(), candidates.len());
        return Err(format!(
            "the answer has {found} events for {sent} candidates"
        ));
    }
    let mut recorded: Vec<RecordedEvent> = Vec::with_capacity(written.len());
    for (written, candidate) in written.into_iter().zip(candidates) {
        let hashed = written.hash.is_some();
        let event = complete(written, candidate)?;
        if let Some(before) = recorded.last_mut() {
            if before.id.next() != Some(event.id) {
                return Err(format!("event {} follows event {}", event.id, before.id));
            }
            if !hashed {
                // The server's own word for it, should it have rewritten the data.
                before.hash = event.predecessor_hash;
            }
            let broken = |broken: BrokenChain| broken.to_string();
            event.verify(before.hash).map_err(broken)?;
        }
        recorded.push(event);
    }
    Ok(recorded)
}

/// Where the answer has no data, it is what was sent: a server of that generation stores it byte
/// for byte or its reads tell.
fn complete(written: Written, mut candidate: EventCandidate) -> Result<RecordedEvent, String> {
    let same = *written.source == *candidate.source
        && written.subject == candidate.subject.as_str()
        && written.r#type == candidate.event_type.as_str();
    if !same {
        return Err(format!("event {} is not the one that was sent", written.id));
    }
    if let Some(data) = written.data {
        candidate.data = data;
    }
    let event = RecordedEvent::record(candidate, written.id, written.time, written.predecessorhash);
    match written.hash {
        Some(found) if found != event.hash => Err(format!(
            "event {} has the hash {found}, its content gives {}",
            event.id, event.hash
        )),
        _ => Ok(event),
    }
}

/// Whether a status other than 200 says that nothing was written.
pub(super) fn is_certain(status: StatusCode) -> bool {
    status.is_client_error()
        || status.is_redirection()
        || matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE
        )
}

/// Refusals that say that nothing was written, and those that do not.
async fn refusal(connection: &Connection, answer: Response) -> AppendError {
    let status = answer.status();
    let refusal = connection.refusal(answer).await;
    match refusal {
        StoreError::Refused(text) if status == StatusCode::CONFLICT && text.contains(CONFLICT) => {
            Conflict.into()
        }
        StoreError::Refused(text) => match conflict(status, &text) {
            Some(conflict) => conflict.into(),
            None => StoreError::Refused(text).into(),
        },
        refusal if is_certain(status) => refusal.into(),
        StoreError::Unavailable { address, reason } | StoreError::Corrupt { address, reason } => {
            AppendError::Unknown { address, reason }
        }
        refusal => AppendError::Unknown {
            address: connection.address.clone(),
            reason: refusal.to_string(),
        },
    }
}
