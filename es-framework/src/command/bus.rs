//! The way of a command: subject → condition → handler → append with derived preconditions.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _};

use super::{CommandError, Condition, Decision, Handle, HandlerError, NewEvent, Violation};
use crate::{
    event::{EventCandidate, EventId, InvalidPart, RecordedEvent, Subject},
    store::{AppendError, Bound, EventStore, Precondition, ReadOptions, StoreError, latest_event},
};

/// When the subject is read again after a connection broke in the middle of a write.
const LOOKS_AFTER_A_BREAK: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_secs(1),
];

/// Carries commands to their handlers and events to the store.
#[derive(Debug, Clone)]
pub struct Bus {
    store: Arc<dyn EventStore>,
    source: Arc<str>,
}

/// A command that was carried out: its events are durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What it was about.
    pub subject: Subject,
    /// Whether the command created the subject.
    pub created: bool,
    /// The last event that was written, if any.
    pub position: Option<EventId>,
}

/// One try to carry out a command.
#[derive(Debug)]
pub(super) enum Attempt {
    /// Its events are durable.
    Done(Outcome),
    /// The subject moved between the read and the write: read and decide again.
    Moved(Subject),
}

/// What was read of a subject, and what must therefore still hold at the write.
#[derive(Debug, Clone, Copy)]
struct Found {
    condition: Condition,
    latest: Option<EventId>,
}

impl Bus {
    /// A bus that publishes as `source` into `store`.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, source: impl Into<Arc<str>>) -> Self {
        let source = source.into();
        Self { store, source }
    }

    /// Decides once on a command that was validated, on the state of this moment.
    pub(super) async fn attempt<C: Handle>(&self, command: C) -> Result<Attempt, CommandError> {
        let subject = command.subject().map_err(invalid_subject)?;
        let found = self.check_condition(C::CONDITION, &subject).await?;
        let decision = decide(command)?;
        let written = self.append(&subject, found, decision).await?;
        Ok(match (written, C::CONDITION) {
            (Written::At(position), condition) => Attempt::Done(Outcome {
                subject,
                created: condition == Condition::Pristine,
                position,
            }),
            // The conflict itself says that the subject is not pristine.
            (Written::Conflict, Condition::Pristine) => {
                return Err(CommandError::AlreadyExists(subject));
            }
            (Written::Conflict, Condition::None | Condition::Exists) => Attempt::Moved(subject),
        })
    }

    /// Reads what the condition asks about. A pristine subject needs no read: the write refuses.
    async fn check_condition(
        &self,
        condition: Condition,
        subject: &Subject,
    ) -> Result<Found, CommandError> {
        let latest = match condition {
            Condition::None | Condition::Pristine => None,
            Condition::Exists => match self.latest_event(subject).await? {
                None => return Err(CommandError::NotFound(subject.clone())),
                latest => latest,
            },
        };
        Ok(Found { condition, latest })
    }

    async fn latest_event(&self, subject: &Subject) -> Result<Option<EventId>, StoreError> {
        let latest = latest_event(&*self.store, subject.clone(), false).await?;
        Ok(latest.map(|event| event.id))
    }

    async fn append(
        &self,
        subject: &Subject,
        found: Found,
        decision: Decision,
    ) -> Result<Written, CommandError> {
        let candidates = self.candidates(subject, decision);
        if candidates.is_empty() {
            return Ok(Written::At(found.latest));
        }
        let preconditions = found.preconditions(subject);
        // Kept for the one case in which nobody knows what became of them.
        let sent = candidates.clone();
        match self.store.append(candidates, preconditions).await {
            Ok(recorded) => Ok(Written::At(recorded.last().map(|event| event.id))),
            Err(AppendError::Conflict(_)) => Ok(Written::Conflict),
            Err(AppendError::Store(error)) => Err(error.into()),
            Err(AppendError::Schema(conflict)) => {
                Err(StoreError::Refused(conflict.to_string()).into())
            }
            Err(AppendError::Unknown { reason, .. }) => {
                self.find_out(subject, found, &sent, reason).await
            }
        }
    }

    fn candidates(&self, subject: &Subject, decision: Decision) -> Vec<EventCandidate> {
        let candidate = |event: NewEvent| EventCandidate {
            source: Arc::clone(&self.source),
            subject: subject.clone(),
            event_type: event.event_type,
            data: event.data,
            trace: None,
        };
        decision.into_events().into_iter().map(candidate).collect()
    }

    /// After a connection broke in the middle of a write, looks for the events themselves.
    async fn find_out(
        &self,
        subject: &Subject,
        found: Found,
        sent: &[EventCandidate],
        reason: String,
    ) -> Result<Written, CommandError> {
        for delay in LOOKS_AFTER_A_BREAK {
            tokio::time::sleep(delay).await;
            match self.events_since(subject, found, sent.len()).await {
                Ok(events) if is_same(&events, sent) => {
                    return Ok(Written::At(events.last().map(|event| event.id)));
                }
                // Others came first, so the write, had it arrived, was refused.
                Ok(events) if !events.is_empty() && found.condition != Condition::None => {
                    return Ok(Written::Conflict);
                }
                // Nothing yet: the write may still arrive.
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%subject, %error, "cannot find out what became of a write")
                }
            }
        }
        let subject = subject.clone();
        Err(CommandError::Unknown { subject, reason })
    }

    async fn events_since(
        &self,
        subject: &Subject,
        found: Found,
        count: usize,
    ) -> Result<Vec<RecordedEvent>, StoreError> {
        let lower_bound = found.latest.map(Bound::Exclusive);
        let options = ReadOptions {
            lower_bound,
            ..ReadOptions::default()
        };
        self.store
            .read(subject.clone(), options)
            .take(count)
            .try_collect()
            .await
    }
}

/// How a write ended.
enum Written {
    /// It is durable; with the last event's position, if there was one.
    At(Option<EventId>),
    /// A precondition did not hold.
    Conflict,
}

impl Found {
    /// What was read must still be so when the events are written.
    fn preconditions(self, subject: &Subject) -> Vec<Precondition> {
        match (self.condition, self.latest) {
            (Condition::Pristine, _) => vec![Precondition::SubjectIsPristine(subject.clone())],
            (_, Some(latest)) => vec![Precondition::SubjectIsOnEventId(subject.clone(), latest)],
            (_, None) => vec![],
        }
    }
}

fn is_same(events: &[RecordedEvent], sent: &[EventCandidate]) -> bool {
    let same = |(event, sent): (&RecordedEvent, &EventCandidate)| {
        event.source == sent.source
            && event.event_type == sent.event_type
            && event.data.get() == sent.data.get()
    };
    events.len() == sent.len() && events.iter().zip(sent).all(same)
}

fn decide<C: Handle>(command: C) -> Result<Decision, CommandError> {
    command.handle().map_err(|error| match error {
        HandlerError::Rejected(rejection) => CommandError::Rejected(rejection),
        error @ HandlerError::Encode { .. } => CommandError::Encode(error.to_string()),
    })
}

fn invalid_subject(part: InvalidPart) -> CommandError {
    let message = part.to_string();
    let pointer = format!("/{}", part.field);
    CommandError::Invalid(vec![Violation { pointer, message }])
}
