//! Commands that are sent again: the first one that was carried out leaves a record among its
//! events, and whoever sends it again is answered from that. The record is written in the same
//! append, on a subject of its own that must be pristine; so it holds across restarts and
//! instances, and of two copies that race one is refused by the store.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{CommandError, IdempotencyKey, NewEvent, Outcome};
use crate::{
    event::{
        self, EventId, EventType, InvalidSubjectPart, Metadata, RecordedEvent, Subject, SubjectPart,
    },
    store::{EventStore, latest_event},
};

const EVENT_TYPE: EventType = EventType::declared("io.es-framework.CommandHandledEvent");

/// How a command that carries a key is known again.
#[derive(Debug, Clone)]
pub(super) struct Attempted {
    /// Where its record is.
    pub(super) subject: Subject,
    /// What was sent under the key.
    request: String,
}

/// The record of a command that was carried out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    request: String,
    subject: Subject,
    created: bool,
    latest: Option<Position>,
    reply: Option<Box<RawValue>>,
}

/// An event that is written together with the record, whose id is not known before, or an earlier
/// one.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Position {
    /// So many events before the record.
    Before(u64),
    /// Long written.
    At(EventId),
}

impl Attempted {
    /// The attempt of this name to have the request carried out.
    pub(super) fn of(key: &IdempotencyKey, request: String) -> Result<Self, InvalidSubjectPart> {
        let digest = key.digest();
        let subject = Subject::from_parts(&[
            SubjectPart::Text("/es-framework/idempotency-keys/"),
            SubjectPart::Field("Idempotency-Key", &digest),
        ])?;
        Ok(Self { subject, request })
    }

    /// The answer to the first command of this key, if it was carried out.
    pub(super) async fn outcome(
        &self,
        store: &dyn EventStore,
    ) -> Result<Option<Outcome>, CommandError> {
        let Some(event) = latest_event(store, self.subject.clone(), false).await? else {
            return Ok(None);
        };
        let record: Record = event.payload().map_err(CommandError::Decode)?;
        if record.request != self.request {
            return Err(CommandError::KeyReused);
        }
        Ok(Some(record.outcome(&event)))
    }

    /// The record of a command, to be written behind its events. `latest` is the last event of the
    /// command's subject before them.
    pub(super) fn record(
        &self,
        events: &[NewEvent],
        outcome: &Outcome,
    ) -> Result<NewEvent, serde_json::Error> {
        let own = events
            .iter()
            .rev()
            .position(|event| event.subject == outcome.subject);
        let before = own.and_then(|distance| u64::try_from(distance).ok()?.checked_add(1));
        let record = Record {
            request: self.request.clone(),
            subject: outcome.subject.clone(),
            created: outcome.created,
            latest: before
                .map(Position::Before)
                .or(outcome.latest.map(Position::At)),
            reply: outcome.reply.clone(),
        };
        Ok(NewEvent {
            subject: self.subject.clone(),
            event_type: EVENT_TYPE,
            data: event::encode(&Metadata::default(), &record)?,
        })
    }
}

impl Record {
    fn outcome(self, event: &RecordedEvent) -> Outcome {
        let latest = match self.latest {
            Some(Position::Before(distance)) => {
                event.id.get().checked_sub(distance).and_then(EventId::new)
            }
            Some(Position::At(id)) => Some(id),
            None => None,
        };
        Outcome {
            subject: self.subject,
            created: self.created,
            position: Some(event.id),
            latest,
            reply: self.reply,
        }
    }
}
