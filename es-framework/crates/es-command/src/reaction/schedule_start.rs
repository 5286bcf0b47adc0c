//! The event with which a schedule starts. It gives each of its times an event, as a deadline has one, and its start a
//! place in the event store: times before that were not missed. It is recorded when the first time is due, so that an
//! application that has nothing to do writes nothing.

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

/// The start of a schedule.
#[derive(Debug, Clone)]
pub(super) struct ScheduleStart {
    pub(super) subject: Subject,
    /// `None` before the start is recorded.
    pub(super) event: Option<EventId>,
    /// The time of the start, by the clock of the instance that records it.
    pub(super) at: Timestamp,
}

impl ScheduleStart {
    /// Finds the start in the store. Without one, the schedule starts now.
    pub(super) async fn find(
        store: &dyn EventStore,
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
        let recorded = Self::read(store, &subject).await?.ok();
        Ok(recorded.unwrap_or(Self {
            subject,
            event: None,
            at: now,
        }))
    }

    /// Records the start, unless another instance has done so.
    pub(super) async fn record(
        self,
        store: &dyn EventStore,
        source: &Arc<str>,
    ) -> Result<Self, ReactionError> {
        let Self { subject, at, .. } = self;
        loop {
            let last = match Self::read(store, &subject).await? {
                Ok(recorded) => return Ok(recorded),
                Err(last) => last,
            };
            let precondition = match last {
                Some(last) => Precondition::SubjectIsOnEventId(subject.clone(), last),
                None => Precondition::SubjectIsPristine(subject.clone()),
            };
            let candidate = EventCandidate {
                source: Arc::clone(source),
                subject: subject.clone(),
                event_type: EventType::declared(SCHEDULE_STARTED),
                data: es_event::encode(&Metadata::default(), &StartPayload { at })?,
                trace: None,
            };
            match store.append(vec![candidate], vec![precondition]).await {
                Ok(_) | Err(AppendError::Conflict(_)) => {}
                Err(error) => return Err(append_failure(error)),
            }
        }
    }

    /// Reads the recorded start, or returns the last event of the subject.
    async fn read(
        store: &dyn EventStore,
        subject: &Subject,
    ) -> Result<Result<Self, Option<EventId>>, ReactionError> {
        let mut last = None;
        let mut events = store.read(subject.clone(), ReadOptions::default());
        while let Some(event) = events.try_next().await? {
            last = Some(event.id);
            if let Some(start) = Self::from_event(event) {
                return Ok(Ok(start));
            }
        }
        Ok(Err(last))
    }

    /// Returns `None` for another event: anybody with the API token can write on the subject.
    fn from_event(event: RecordedEvent) -> Option<Self> {
        if event.event_type.as_str() != SCHEDULE_STARTED {
            return None;
        }
        let StartPayload { at } = event.payload().ok()?;
        let RecordedEvent { id, subject, .. } = event;
        let event = Some(id);
        Some(Self { subject, event, at })
    }
}
