//! Idempotency keys. A handled command with a key leaves an idempotency record, and a repeated
//! command gets the recorded outcome instead of being decided again. The record is appended together
//! with the command's events, on its own subject that must be pristine. Therefore keys work across restarts and instances, and the store refuses
//! one of two concurrent copies.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{CommandError, CommandOutcome, CommandRequest, IdempotencyKey, NewEvent, Violation};
use es_event::{
    EventId, EventType, InvalidSubjectValue, Metadata, RecordedEvent, Subject, SubjectTemplatePart,
};
use es_store::{EventLog, latest_event};

const EVENT_TYPE: EventType = EventType::declared("io.es-framework.CommandHandledEvent");

/// A request with an idempotency key. It finds the record of an earlier execution, and creates its own record.
#[derive(Debug, Clone)]
pub(crate) struct IdempotentRequest {
    /// The subject of the record.
    pub(super) subject: Subject,
    /// The digest of the request, which tells requests with the same key apart.
    request: String,
}

/// The stored outcome of a handled command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct IdempotencyRecord {
    request: String,
    subject: Subject,
    created: bool,
    latest: Option<LatestEventReference>,
    reply: Option<Box<RawValue>>,
}

/// The last event of the command's subject, as the record refers to it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum LatestEventReference {
    /// The event is in the same append as the record, this many events before it. Its id is not
    /// known when the record is written.
    Before(u64),
    /// The event was recorded earlier.
    At(EventId),
}

impl IdempotentRequest {
    /// Returns the request, if it has an idempotency key.
    pub(super) fn from_request(
        request: &CommandRequest<'_>,
        command: &str,
    ) -> Result<Option<Self>, CommandError> {
        let Some(key) = &request.context.idempotency_key else {
            return Ok(None);
        };
        let subject = record_subject(key).map_err(|part| {
            let (pointer, message) = (String::new(), part.to_string());
            CommandError::Invalid(vec![Violation { pointer, message }])
        })?;
        let request = request.fingerprint(command);
        Ok(Some(Self { subject, request }))
    }

    /// Returns the outcome of the command that was handled under this key before.
    ///
    /// # Errors
    /// The key belongs to another request or to a person who is erased, or the event store failed.
    pub(super) async fn find_recorded_outcome(
        &self,
        store: &dyn EventLog,
    ) -> Result<Option<CommandOutcome>, CommandError> {
        let Some(event) = latest_event(store, self.subject.clone(), false).await? else {
            return Ok(None);
        };
        let record: IdempotencyRecord = event.payload().map_err(CommandError::Decode)?;
        // An erasure took the digest with the personal data, so nothing tells whether this is the same request.
        if record.request.is_empty() {
            let somebody = format!("somebody on {}", record.subject);
            return Err(CommandError::ErasedPerson(somebody));
        }
        if record.request != self.request {
            return Err(CommandError::KeyReused);
        }
        Ok(Some(record.into_outcome(&event)))
    }

    /// Creates the record, which is appended after the command's events. `outcome.latest` is the
    /// last event of the command's subject before them.
    pub(super) fn create_record_event(
        &self,
        events: &[NewEvent],
        outcome: &CommandOutcome,
    ) -> Result<NewEvent, serde_json::Error> {
        let last_own = events
            .iter()
            .rev()
            .position(|event| event.subject == outcome.subject);
        let before = last_own.and_then(|distance| u64::try_from(distance).ok()?.checked_add(1));
        let record = IdempotencyRecord {
            request: self.request.clone(),
            subject: outcome.subject.clone(),
            created: outcome.created,
            latest: before
                .map(LatestEventReference::Before)
                .or(outcome.latest.map(LatestEventReference::At)),
            reply: outcome.reply.clone(),
        };
        Ok(NewEvent {
            subject: self.subject.clone(),
            event_type: EVENT_TYPE,
            data: es_event::encode(&Metadata::default(), &record)?,
        })
    }
}

fn record_subject(key: &IdempotencyKey) -> Result<Subject, InvalidSubjectValue> {
    Subject::fill_template(&[
        SubjectTemplatePart::Text("/es-framework/idempotency-keys/"),
        SubjectTemplatePart::Field("Idempotency-Key", &key.digest_for_subject()),
    ])
}

impl IdempotencyRecord {
    fn into_outcome(self, event: &RecordedEvent) -> CommandOutcome {
        let latest = match self.latest {
            Some(LatestEventReference::Before(distance)) => {
                event.id.get().checked_sub(distance).and_then(EventId::new)
            }
            Some(LatestEventReference::At(id)) => Some(id),
            None => None,
        };
        CommandOutcome {
            subject: self.subject,
            created: self.created,
            position: Some(event.id),
            latest,
            reply: self.reply,
        }
    }
}
