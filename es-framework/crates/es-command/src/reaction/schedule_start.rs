//! The event with which a schedule starts. It gives each of its times an event, as a deadline has one, and its start a
//! place in the event store: times before that were not missed. It is recorded when the first time is due, so that an
//! application that has nothing to do writes nothing. After a later start, the schedule forgets the times that it has met.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::TryStreamExt as _;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ReactionError, error::append_failure};
use es_event::{
    EventCandidate, EventId, EventType, Metadata, RecordedEvent, Subject, SubjectTemplatePart,
};
use es_store::{AppendError, EventLog, Precondition, ReadOptions};

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

/// Returns the subject of a schedule, whose tasks are executed one after the other.
pub(super) fn schedule_subject((reaction, step): (&str, &str)) -> Result<Subject, ReactionError> {
    let subject = Subject::fill_template(&[
        SubjectTemplatePart::Text("/es-framework/schedules/"),
        SubjectTemplatePart::Field("reaction", &reaction),
        SubjectTemplatePart::Text("/"),
        SubjectTemplatePart::Field("step", &step),
    ]);
    subject.map_err(ReactionError::Name)
}

/// The starts of the schedules of a reaction, by the index of the step.
#[derive(Debug, Default)]
pub(super) struct ScheduleStarts {
    pub(super) starts: BTreeMap<usize, ScheduleStart>,
    /// True if a schedule was found to wait because the clock was ahead.
    pub(super) is_ahead: bool,
}

impl ScheduleStart {
    /// Finds the start in the store. Without one, the schedule starts now.
    pub(super) async fn find(
        store: &dyn EventLog,
        name: (&str, &str),
        now: Timestamp,
    ) -> Result<Self, ReactionError> {
        let subject = schedule_subject(name)?;
        let (recorded, _) = Self::read_last(store, &subject).await?;
        Ok(recorded.unwrap_or(Self {
            subject,
            event: None,
            at: now,
        }))
    }

    /// Records the start, unless another instance has done so.
    pub(super) async fn record(
        self,
        store: &dyn EventLog,
        source: &Arc<str>,
    ) -> Result<Self, ReactionError> {
        loop {
            let precondition = match Self::read_last(store, &self.subject).await? {
                (Some(recorded), _) => return Ok(recorded),
                (None, Some(last)) => Precondition::SubjectIsOnEventId(self.subject.clone(), last),
                (None, None) => Precondition::SubjectIsPristine(self.subject.clone()),
            };
            let candidate = self.to_candidate(source)?;
            match store.append(vec![candidate], vec![precondition]).await {
                Ok(_) | Err(AppendError::Conflict(_)) => {}
                Err(error) => return Err(append_failure(error)),
            }
        }
    }

    /// Records another start, at this time.
    pub(super) async fn record_anew(
        &self,
        store: &dyn EventLog,
        source: &Arc<str>,
        at: Timestamp,
    ) -> Result<(), ReactionError> {
        let candidate = Self { at, ..self.clone() }.to_candidate(source)?;
        let appended = store.append(vec![candidate], Vec::new()).await;
        appended.map(drop).map_err(append_failure)
    }

    fn to_candidate(&self, source: &Arc<str>) -> Result<EventCandidate, ReactionError> {
        Ok(EventCandidate {
            source: Arc::clone(source),
            subject: self.subject.clone(),
            event_type: EventType::declared(SCHEDULE_STARTED),
            data: es_event::encode(&Metadata::default(), &StartPayload { at: self.at })?,
            trace: None,
        })
    }

    /// Reads the last recorded start, and the id of the last event of the subject.
    async fn read_last(
        store: &dyn EventLog,
        subject: &Subject,
    ) -> Result<(Option<Self>, Option<EventId>), ReactionError> {
        let (mut start, mut last) = (None, None);
        let mut events = store.read(subject.clone(), ReadOptions::default());
        while let Some(event) = events.try_next().await? {
            last = Some(event.id);
            start = Self::from_event(&event).or(start);
        }
        Ok((start, last))
    }

    /// Returns `None` for another event: anybody with the API token can write on the subject.
    pub(super) fn from_event(event: &RecordedEvent) -> Option<Self> {
        if event.event_type.as_str() != SCHEDULE_STARTED {
            return None;
        }
        let StartPayload { at } = event.payload().ok()?;
        let (subject, event) = (event.subject.clone(), Some(event.id));
        Some(Self { subject, event, at })
    }
}
