//! How far a reaction has come, kept in the event store: it is there for every instance and after
//! every restart, whatever database the read models are in.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    event::{
        self, EventCandidate, EventId, EventType, InvalidPart, Metadata, Subject, SubjectPart,
    },
    reaction::ReactionError,
    store::{AppendError, EventStore, Precondition, StoreError, latest_event},
};

const EVENT_TYPE: EventType = EventType::declared("io.es-framework.ReactionCheckpointedEvent");

/// How far a reaction has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checkpoint {
    /// The last event that it has taken; `None`, and it has taken none.
    pub(super) position: Option<EventId>,
    /// Of the deadlines that events up to there name, those until this time were met or cancelled.
    pub(super) settled: Timestamp,
    /// The first event that names one that was not.
    pub(super) open_from: Option<EventId>,
}

/// The checkpoints of one reaction.
#[derive(Debug)]
pub(super) struct Checkpoints {
    store: Arc<dyn EventStore>,
    source: Arc<str>,
    subject: Subject,
    /// The event that holds the last one, as far as is known.
    last: Option<EventId>,
}

impl Checkpoints {
    pub(super) fn of(
        reaction: &'static str,
        store: Arc<dyn EventStore>,
        source: Arc<str>,
    ) -> Result<Self, InvalidPart> {
        let subject = Subject::from_parts(&[
            SubjectPart::Text("/es-framework/reactions/"),
            SubjectPart::Field("name", &reaction),
        ])?;
        let last = None;
        Ok(Self {
            store,
            source,
            subject,
            last,
        })
    }

    /// The last one, if there is one.
    pub(super) async fn load(&mut self) -> Result<Option<Checkpoint>, ReactionError> {
        let latest = latest_event(&*self.store, self.subject.clone(), false).await?;
        self.last = latest.as_ref().map(|event| event.id);
        Ok(latest.map(|event| event.payload()).transpose()?)
    }

    /// Writes one, unless another instance has come as far. Where nobody knows whether it was
    /// written, the next one finds out.
    pub(super) async fn save(&mut self, checkpoint: &Checkpoint) -> Result<(), ReactionError> {
        loop {
            let precondition = match self.last {
                Some(last) => Precondition::SubjectIsOnEventId(self.subject.clone(), last),
                None => Precondition::SubjectIsPristine(self.subject.clone()),
            };
            let candidate = EventCandidate {
                source: Arc::clone(&self.source),
                subject: self.subject.clone(),
                event_type: EVENT_TYPE,
                data: event::encode(&Metadata::default(), checkpoint)?,
                trace: None,
            };
            match self.store.append(vec![candidate], vec![precondition]).await {
                Ok(recorded) => {
                    self.last = recorded.last().map(|event| event.id).or(self.last);
                    return Ok(());
                }
                Err(AppendError::Conflict(_)) => {
                    let others = self.load().await?;
                    if others.is_some_and(|others| others.position >= checkpoint.position) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(store_error(error).into()),
            }
        }
    }
}

fn store_error(error: AppendError) -> StoreError {
    match error {
        AppendError::Store(error) => error,
        AppendError::Unknown { address, reason } => StoreError::Unavailable { address, reason },
        AppendError::Schema(error) => StoreError::Refused(error.to_string()),
        AppendError::Conflict(error) => StoreError::Refused(error.to_string()),
    }
}
