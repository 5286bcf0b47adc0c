//! Appends a decision, and finds out the fate of an append whose response was lost.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use tracing::Instrument as _;

use super::{
    CommandContext, CommandError, CommandOutcome, CommandResources, NewEvent, UntypedDecision,
    idempotency::IdempotentRequest, metrics,
};
use crate::unique::{NewClaimEvent, plan_claims};
use es_event::{EventCandidate, EventId, RecordedEvent, Subject, TraceContext};
use es_observe::telemetry::traces;
use es_store::{AppendError, Bound, Precondition, ReadOptions, StoreError};

/// The pauses before each read that looks for the events of an append whose response was lost.
const RECOVERY_PAUSES: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_secs(1),
];

/// The result of an attempt to append a decision.
#[derive(Debug)]
pub(super) enum AppendResult {
    /// The events are durable.
    Finished(CommandOutcome),
    /// A precondition did not hold, and nothing was written.
    Conflict,
}

/// Appends the events of a decision. A command with an idempotency key also appends its
/// idempotency record. `outcome` holds what is known before the append.
pub(super) async fn append_decision(
    resources: &CommandResources,
    decision: UntypedDecision,
    mut preconditions: Vec<Precondition>,
    mut outcome: CommandOutcome,
    context: &CommandContext,
    idempotency: Option<&IdempotentRequest>,
) -> Result<AppendResult, CommandError> {
    let claims = plan_claims(
        &*resources.store,
        resources.unique_keys(),
        decision.owned_values(),
    );
    let claims = claims.await?;
    let (mut events, reply) = decision.into_parts();
    outcome.reply = reply;
    // Other commands may write the same claims. If the response is lost, the events after them tell whose they are.
    events.splice(0..0, claims.events.into_iter().map(NewEvent::from));
    preconditions.extend(claims.preconditions);
    if let Some(check) = idempotency {
        let record = check.create_record_event(&events, &outcome);
        events.push(record.map_err(|error| CommandError::Encode(error.to_string()))?);
        preconditions.push(Precondition::SubjectIsPristine(check.subject.clone()));
    }
    if events.is_empty() {
        return Ok(AppendResult::Finished(outcome));
    }
    let last_own = events
        .iter()
        .rposition(|event| event.subject == outcome.subject);
    let last = events.len().saturating_sub(1);
    let span = tracing::info_span!("append", subject = %outcome.subject, events = events.len());
    // The events carry the trace on to the read models and reactions.
    let trace = traces::trace_of(&span).or_else(|| context.trace.clone());
    let candidates = events.into_iter();
    let candidates = candidates.map(|event| candidate(resources, event, trace.as_ref()));
    let candidates = candidates.collect();
    let first_id = append(resources, candidates, preconditions)
        .instrument(span)
        .await?;
    let Some(first_id) = first_id else {
        return Ok(AppendResult::Conflict);
    };
    outcome.position = id_after(first_id, last);
    let latest = last_own.and_then(|index| id_after(first_id, index));
    outcome.latest = latest.or(outcome.latest);
    Ok(AppendResult::Finished(outcome))
}

impl From<NewClaimEvent> for NewEvent {
    fn from(event: NewClaimEvent) -> Self {
        Self {
            subject: event.subject,
            event_type: event.event_type,
            data: event.data,
        }
    }
}

/// Converts a new event of a decision to a candidate.
pub(super) fn candidate(
    resources: &CommandResources,
    event: NewEvent,
    trace: Option<&TraceContext>,
) -> EventCandidate {
    EventCandidate {
        source: Arc::clone(&resources.source),
        subject: event.subject,
        event_type: event.event_type,
        data: event.data,
        trace: trace.cloned(),
    }
}

/// Appends the candidates and returns the id of the first recorded event, or `None` after a
/// conflict. The events of one append have consecutive ids.
async fn append(
    resources: &CommandResources,
    candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
) -> Result<Option<EventId>, CommandError> {
    // If the response is lost, the recovery needs the candidates and the preconditions again.
    let (sent, assumed) = (candidates.clone(), preconditions.clone());
    let start = Instant::now();
    let appended = resources.store.append(candidates, preconditions).await;
    metrics::record_append(&appended, start.elapsed());
    match appended {
        Ok(recorded) => match recorded.first() {
            Some(first) => Ok(Some(first.id)),
            None => Err(StoreError::Refused("it wrote no events".into()).into()),
        },
        Err(AppendError::Conflict(_)) => Ok(None),
        Err(AppendError::Store(error)) => Err(error.into()),
        Err(AppendError::ErasedPerson(person)) => Err(CommandError::ErasedPerson(person)),
        Err(AppendError::Schema(conflict)) => Err(StoreError::Refused(conflict.to_string()).into()),
        Err(AppendError::Unknown { reason, .. }) => {
            recover_unknown_append(resources, &sent, &assumed, reason).await
        }
    }
}

/// Reads the subjects of the append again to find out whether its events were recorded. An append
/// writes all of its events or none, so the events of one subject are enough. The best one is the last
/// whose last event was a precondition: that of the idempotency record, if there is one. No other
/// command writes the same record, but another instance may have written the same event. Other events
/// on a subject with a precondition prove a conflict.
async fn recover_unknown_append(
    resources: &CommandResources,
    sent: &[EventCandidate],
    assumed: &[Precondition],
    reason: String,
) -> Result<Option<EventId>, CommandError> {
    let subjects = subjects_to_read(sent, assumed);
    let Some(AppendedSubject { subject: best, .. }) = subjects.first().copied() else {
        return Err(StoreError::Refused("nothing was sent".into()).into());
    };
    for pause in RECOVERY_PAUSES {
        tokio::time::sleep(pause).await;
        for AppendedSubject {
            index,
            subject,
            bound,
        } in &subjects
        {
            let own = sent.iter().filter(|event| event.subject == **subject);
            let own: Vec<_> = own.collect();
            match read_after(resources, subject, bound.flatten(), own.len()).await {
                Ok(events) if are_same(&events, &own) => {
                    if *subject == best
                        && let Some(first_id) = first_id(&events, *index)
                    {
                        return Ok(Some(first_id));
                    }
                }
                // Another command's events came first. The store refuses this append, even if it
                // arrives later.
                Ok(events) if !events.is_empty() && bound.is_some() => return Ok(None),
                // The append may still arrive.
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%subject, %error, "cannot find out whether an append was recorded");
                }
            }
        }
    }
    let subject = best.clone();
    Err(CommandError::Unknown { subject, reason })
}

/// A subject of an append whose outcome is unknown.
#[derive(Clone, Copy)]
struct AppendedSubject<'a> {
    /// The index of the subject's first event in the append.
    index: usize,
    subject: &'a Subject,
    /// The bound after which the events begin, if a precondition fixes it.
    bound: Option<Option<Bound>>,
}

/// Returns the subjects with a precondition, the last one first, or else the first subject.
fn subjects_to_read<'a>(
    sent: &'a [EventCandidate],
    assumed: &[Precondition],
) -> Vec<AppendedSubject<'a>> {
    let mut subjects: Vec<AppendedSubject<'a>> = Vec::new();
    for (index, EventCandidate { subject, .. }) in sent.iter().enumerate() {
        if !subjects.iter().any(|one| one.subject == subject) {
            let bound = assumed.iter().find_map(|one| lower_bound(one, subject));
            subjects.push(AppendedSubject {
                index,
                subject,
                bound,
            });
        }
    }
    let first = subjects.first().copied();
    subjects.retain(|one| one.bound.is_some());
    subjects.reverse();
    if subjects.is_empty() {
        subjects.extend(first);
    }
    subjects
}

async fn read_after(
    resources: &CommandResources,
    subject: &Subject,
    lower_bound: Option<Bound>,
    count: usize,
) -> Result<Vec<RecordedEvent>, StoreError> {
    let options = ReadOptions {
        lower_bound,
        ..ReadOptions::default()
    };
    let events = resources.store.read(subject.clone(), options);
    events.take(count).try_collect().await
}

/// Returns the lower bound after which the events of the append begin on this subject, if the
/// precondition fixes it. `Some(None)` is the beginning of the subject.
fn lower_bound(precondition: &Precondition, subject: &Subject) -> Option<Option<Bound>> {
    if precondition.subject() != Some(subject) {
        return None;
    }
    match precondition {
        Precondition::SubjectIsPristine(_) => Some(None),
        Precondition::SubjectIsOnEventId(_, id) => Some(Some(Bound::Exclusive(*id))),
        Precondition::SubjectIsPopulated(_)
        | Precondition::SubtreeIsPristine(_)
        | Precondition::SubtreeIsPopulated(_)
        | Precondition::SubtreeIsOnEventId(..)
        | Precondition::StoreIsOnEventId(_) => None,
    }
}

fn are_same(events: &[RecordedEvent], sent: &[&EventCandidate]) -> bool {
    let is_same = |(event, sent): (&RecordedEvent, &&EventCandidate)| {
        event.source == sent.source
            && event.event_type == sent.event_type
            && event.data.get() == sent.data.get()
    };
    events.len() == sent.len() && events.iter().zip(sent).all(is_same)
}

/// Returns the id of the first event of an append. `index` is the position of the first loaded
/// event within that append.
fn first_id(loaded: &[RecordedEvent], index: usize) -> Option<EventId> {
    let index = u64::try_from(index).ok()?;
    EventId::new(loaded.first()?.id.get().checked_sub(index)?)
}

fn id_after(first: EventId, index: usize) -> Option<EventId> {
    EventId::new(first.get().checked_add(u64::try_from(index).ok()?)?)
}
