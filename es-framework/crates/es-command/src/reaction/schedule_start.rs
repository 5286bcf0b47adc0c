//! The event with which a schedule starts. It gives each of its times an event, as a deadline has one, and its first
//! start a place in the event store: times before that were not missed.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ReactionError, error::append_failure};
use es_event::{
    EventCandidate, EventId, EventType, Metadata, RecordedEvent, Subject, SubjectTemplatePart,
};
use es_store::{AppendError, EventStore, Precondition, ReadOptions};

/// The type of the event with which each schedule starts.
#[doc(hidden)]
pub const SCHEDULE_STARTED: &str = "io.es-framework.ScheduleStartedEvent";

/// The payload of the event.
#[derive(Serialize, Deserialize)]
struct StartPayload {
    at: Timestamp,
}

/// The first start of a schedule.
#[derive(Debug, Clone)]
pub(super) struct ScheduleStart {
    pub(super) subject: Subject,
    pub(super) event: EventId,
    /// The time of the start, by the clock of the instance that recorded it.
    pub(super) at: Timestamp,
}

impl ScheduleStart {
    /// Finds the event in the store, or records it. Of several instances, one does.
    pub(super) async fn find_or_record(
        store: &dyn EventStore,
        source: &Arc<str>,
        (reaction, step): (&str, &str),
        now: Timestamp,
    ) -> Result<Self, ReactionError> {
        let subject = Subject::fill_template(&[
            SubjectTemplatePart::Text("/es-framework/schedules/"),
            SubjectTemplatePart::Field("reaction", &reaction),
            SubjectTemplatePart::Text("/"),
            SubjectTemplatePart::Field("step", &step),
        ]);
        let subject = subject.map_err(ReactionError::Name)?;
        loop {
            let mut last = None;
            let mut events = store.read(subject.clone(), ReadOptions::default());
            while let Some(event) = events.try_next().await? {
                last = Some(event.id);
                if let Some(start) = Self::from_event(event) {
                    return Ok(start);
                }
            }
            let precondition = match last {
                Some(last) => Precondition::SubjectIsOnEventId(subject.clone(), last),
                None => Precondition::SubjectIsPristine(subject.clone()),
            };
            let candidate = EventCandidate {
                source: Arc::clone(source),
                subject: subject.clone(),
                event_type: EventType::declared(SCHEDULE_STARTED),
                data: es_event::encode(&Metadata::default(), &StartPayload { at: now })?,
                trace: None,
            };
            match store.append(vec![candidate], vec![precondition]).await {
                Ok(_) | Err(AppendError::Conflict(_)) => {}
                Err(error) => return Err(append_failure(error)),
            }
        }
    }

    /// Returns `None` for another event: anybody with the API token can write on the subject.
    fn from_event(event: RecordedEvent) -> Option<Self> {
        if event.event_type.as_str() != SCHEDULE_STARTED {
            return None;
        }
        let StartPayload { at } = event.payload().ok()?;
        let RecordedEvent {
            id: event, subject, ..
        } = event;
        Some(Self { subject, event, at })
    }
}
