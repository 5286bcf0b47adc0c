//! Writing what was decided, and finding out what became of a write whose answer was lost.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tracing::Instrument as _;

use super::{
    CommandBus, CommandContext, CommandError, CommandOutcome, NewEvent, UntypedDecision,
    idempotency::Attempted, metrics,
};
use crate::{
    event::{EventCandidate, EventId, RecordedEvent, Subject, TraceContext},
    store::{AppendError, Bound, Precondition, ReadOptions, StoreError},
    telemetry::traces,
};

/// When the subject is read again after a connection broke in the middle of a write.
const LOOKS_AFTER_A_BREAK: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_secs(1),
];

/// How a write ended.
pub(super) enum Written {
    /// It is durable.
    Done(CommandOutcome),
    /// One of so many preconditions did not hold.
    Conflict(Subject, usize),
}

/// What became of a write.
enum Fate {
    /// The events are durable. Those of one append have consecutive ids, of which this is the
    /// first.
    RecordedFrom(EventId),
    /// A precondition did not hold.
    Conflict,
}

impl CommandBus {
    /// Writes the events of a decision, and the record of the command where it carries a key.
    /// `outcome` is what is known of it before the write.
    pub(super) async fn write(
        &self,
        decided: UntypedDecision,
        mut preconditions: Vec<Precondition>,
        mut outcome: CommandOutcome,
        context: &CommandContext,
        attempted: Option<&Attempted>,
    ) -> Result<Written, CommandError> {
        let (mut events, reply) = decided.into_parts();
        outcome.reply = reply;
        if let Some(attempted) = attempted {
            let record = attempted.record(&events, &outcome);
            events.push(record.map_err(|error| CommandError::Encode(error.to_string()))?);
            preconditions.push(Precondition::SubjectIsPristine(attempted.subject.clone()));
        }
        if events.is_empty() {
            return Ok(Written::Done(outcome));
        }
        let own = events
            .iter()
            .rposition(|event| event.subject == outcome.subject);
        let (last, count) = (events.len().saturating_sub(1), preconditions.len());
        let span = tracing::info_span!("append", subject = %outcome.subject, events = events.len());
        // What follows from the events elsewhere goes on from here.
        let trace = traces::trace_of(&span).or_else(|| context.trace.clone());
        let candidates = self.candidates(events, trace.as_ref());
        match self
            .append(candidates, preconditions)
            .instrument(span)
            .await?
        {
            Fate::Conflict => Ok(Written::Conflict(outcome.subject, count)),
            Fate::RecordedFrom(first) => {
                outcome.position = offset(first, last);
                outcome.latest = own.and_then(|own| offset(first, own)).or(outcome.latest);
                Ok(Written::Done(outcome))
            }
        }
    }

    fn candidates(
        &self,
        events: Vec<NewEvent>,
        trace: Option<&TraceContext>,
    ) -> Vec<EventCandidate> {
        let candidate = |event: NewEvent| EventCandidate {
            source: Arc::clone(&self.source),
            subject: event.subject,
            event_type: event.event_type,
            data: event.data,
            trace: trace.cloned(),
        };
        events.into_iter().map(candidate).collect()
    }

    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Fate, CommandError> {
        // Kept for the one case in which nobody knows what became of them.
        let (sent, assumed) = (candidates.clone(), preconditions.clone());
        let begin = Instant::now();
        let appended = self.store.append(candidates, preconditions).await;
        metrics::appended(&appended, begin.elapsed());
        match appended {
            Ok(recorded) => match recorded.first() {
                Some(first) => Ok(Fate::RecordedFrom(first.id)),
                None => Err(StoreError::Refused("it wrote no events".into()).into()),
            },
            Err(AppendError::Conflict(_)) => Ok(Fate::Conflict),
            Err(AppendError::Store(error)) => Err(error.into()),
            Err(AppendError::Schema(conflict)) => {
                Err(StoreError::Refused(conflict.to_string()).into())
            }
            Err(AppendError::Unknown { reason, .. }) => {
                self.find_out(&sent, &assumed, reason).await
            }
        }
    }

    /// After a connection broke in the middle of a write, looks for the events themselves. They
    /// were written all or none, so those of one subject tell: best of one that had to be as it
    /// was read.
    async fn find_out(
        &self,
        sent: &[EventCandidate],
        assumed: &[Precondition],
        reason: String,
    ) -> Result<Fate, CommandError> {
        let guarded = sent.iter().enumerate().find_map(|(index, event)| {
            let since = assumed.iter().find_map(|one| since(one, &event.subject))?;
            Some((index, &event.subject, since))
        });
        let first = sent.first().map(|event| (0, &event.subject, None));
        let Some((index, subject, since)) = guarded.or(first) else {
            return Err(StoreError::Refused("nothing was sent".into()).into());
        };
        let own: Vec<_> = sent
            .iter()
            .filter(|event| event.subject == *subject)
            .collect();
        for delay in LOOKS_AFTER_A_BREAK {
            tokio::time::sleep(delay).await;
            match self.events_since(subject, since, own.len()).await {
                Ok(events) if is_same(&events, &own) => {
                    if let Some(first) = first_id(&events, index) {
                        return Ok(Fate::RecordedFrom(first));
                    }
                }
                // Others came first, so the write, had it arrived, was refused.
                Ok(events) if !events.is_empty() && guarded.is_some() => return Ok(Fate::Conflict),
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
        lower_bound: Option<Bound>,
        count: usize,
    ) -> Result<Vec<RecordedEvent>, StoreError> {
        let options = ReadOptions {
            lower_bound,
            ..ReadOptions::default()
        };
        let events = self.store.read(subject.clone(), options);
        events.take(count).try_collect().await
    }
}

/// Where the events of a write on this subject begin, if the precondition says so.
fn since(assumed: &Precondition, subject: &Subject) -> Option<Option<Bound>> {
    if assumed.subject() != Some(subject) {
        return None;
    }
    match assumed {
        Precondition::SubjectIsPristine(_) => Some(None),
        Precondition::SubjectIsOnEventId(_, id) => Some(Some(Bound::Exclusive(*id))),
        Precondition::SubjectIsPopulated(_)
        | Precondition::SubtreeIsUnchangedSince(..)
        | Precondition::StoreIsOnEventId(_) => None,
    }
}

fn is_same(events: &[RecordedEvent], sent: &[&EventCandidate]) -> bool {
    let same = |(event, sent): (&RecordedEvent, &&EventCandidate)| {
        event.source == sent.source
            && event.event_type == sent.event_type
            && event.data.get() == sent.data.get()
    };
    events.len() == sent.len() && events.iter().zip(sent).all(same)
}

/// The id of the first event of a write, one of which, the one at `index`, was found.
fn first_id(found: &[RecordedEvent], index: usize) -> Option<EventId> {
    let index = u64::try_from(index).ok()?;
    EventId::new(found.first()?.id.get().checked_sub(index)?)
}

fn offset(first: EventId, index: usize) -> Option<EventId> {
    EventId::new(first.get().checked_add(u64::try_from(index).ok()?)?)
}
