//! Appends a decision, and finds out the fate of an append whose response was lost.

use std::{
    num::NonZeroU64,
    time::{Duration, Instant},
};

use futures_util::TryStreamExt as _;
use tracing::Instrument as _;

use super::{
    CommandContext, CommandError, CommandOutcome, CommandResources, UntypedDecision,
    idempotency::IdempotentRequest, metrics,
};
use crate::unique::plan_claims;
use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_observe::telemetry::traces;
use es_store::{AppendError, Bound, Precondition, PreconditionScope, ReadOptions, StoreError};

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

/// The fate of the events of an append.
#[derive(Debug, Clone, Copy)]
enum AppendFate {
    /// They were recorded with consecutive ids, of which this is the first.
    Recorded(EventId),
    /// A precondition did not hold.
    Refused,
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
    let store = &*resources.store;
    let owned = decision.owned_values();
    let claims = plan_claims(store, resources.unique_keys(), owned).await?;
    let (mut events, reply) = decision.into_parts();
    outcome.reply = reply;
    events.splice(0..0, claims.events);
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
    let candidates = events
        .into_iter()
        .map(|event| event.into_candidate(&resources.source, trace.as_ref()))
        .collect();
    let fate = append(resources, &outcome.subject, candidates, preconditions)
        .instrument(span)
        .await?;
    let AppendFate::Recorded(first_id) = fate else {
        return Ok(AppendResult::Conflict);
    };
    outcome.position = id_after(first_id, last);
    let latest = last_own.and_then(|index| id_after(first_id, index));
    outcome.latest = latest.or(outcome.latest);
    Ok(AppendResult::Finished(outcome))
}

/// Appends the candidates.
async fn append(
    resources: &CommandResources,
    subject: &Subject,
    candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
) -> Result<AppendFate, CommandError> {
    // If the response is lost, the recovery needs the candidates and the preconditions again.
    let (sent, assumed) = (candidates.clone(), preconditions.clone());
    let start = Instant::now();
    let appended = resources.store.append(candidates, preconditions).await;
    metrics::record_append(&appended, start.elapsed());
    match appended {
        Ok(recorded) => match recorded.first() {
            Some(first) => Ok(AppendFate::Recorded(first.id)),
            None => Err(StoreError::Refused("it wrote no events".into()).into()),
        },
        Err(AppendError::Conflict(_)) => Ok(AppendFate::Refused),
        Err(AppendError::Store(error)) => Err(error.into()),
        Err(AppendError::ErasedPerson(person)) => Err(CommandError::ErasedPerson(person)),
        Err(AppendError::Schema(conflict)) => Err(StoreError::Refused(conflict.to_string()).into()),
        Err(AppendError::Unknown { reason, .. }) => {
            let subject = subject.clone();
            let fate = recover_unknown_append(resources, &sent, &assumed).await;
            fate.ok_or(CommandError::Unknown { subject, reason })
        }
    }
}

/// Reads the scopes of the preconditions again to find out whether the events of the append were recorded.
async fn recover_unknown_append(
    resources: &CommandResources,
    sent: &[EventCandidate],
    assumed: &[Precondition],
) -> Option<AppendFate> {
    let scopes: Vec<_> = assumed
        .iter()
        .filter_map(|one| AppendedScope::find(one, sent))
        .collect();
    for pause in RECOVERY_PAUSES {
        tokio::time::sleep(pause).await;
        for scope in &scopes {
            match scope.find_append(resources, sent).await {
                Ok(None) => {}
                Ok(Some(fate)) => return Some(fate),
                Err(error) => {
                    let subject = &scope.subject;
                    tracing::warn!(%subject, %error, "cannot find out whether an append was recorded");
                }
            }
        }
    }
    None
}

/// A scope of a precondition in which the append has events.
struct AppendedScope {
    subject: Subject,
    /// Reads the first event after those that the precondition allows.
    options: ReadOptions,
    /// The index of the first event of the append in the scope.
    index: usize,
}

impl AppendedScope {
    fn find(precondition: &Precondition, sent: &[EventCandidate]) -> Option<Self> {
        let latest = match precondition {
            Precondition::SubjectIsPristine(_) | Precondition::SubtreeIsPristine(_) => None,
            Precondition::SubjectIsOnEventId(_, id) | Precondition::SubtreeIsOnEventId(_, id) => {
                Some(*id)
            }
            Precondition::StoreIsOnEventId(id) => *id,
            Precondition::SubjectIsPopulated(_) | Precondition::SubtreeIsPopulated(_) => {
                return None;
            }
        };
        let (subject, recursive) = match precondition.scope() {
            PreconditionScope::Subject(subject) => (subject.clone(), false),
            PreconditionScope::Subtree(subject) => (subject.clone(), true),
            PreconditionScope::Store => (Subject::root(), true),
        };
        let index = sent.iter().position(|event| {
            event.subject == subject || recursive && event.subject.is_within(&subject)
        });
        let options = ReadOptions {
            recursive,
            lower_bound: latest.map(Bound::Exclusive),
            limit: Some(NonZeroU64::MIN),
            ..ReadOptions::default()
        };
        Some(Self {
            subject,
            options,
            index: index?,
        })
    }

    /// Returns `None` if the append may still arrive. If the events of another command came first, the store refuses the
    /// append, even if it arrives later. All events of the append are compared with the
    /// stored ones, because other commands may write the same claims.
    async fn find_append(
        &self,
        resources: &CommandResources,
        sent: &[EventCandidate],
    ) -> Result<Option<AppendFate>, StoreError> {
        let store = &resources.store;
        let mut events = store.read(self.subject.clone(), self.options.clone());
        let Some(newer) = events.try_next().await? else {
            return Ok(None);
        };
        let index = u64::try_from(self.index).unwrap_or(u64::MAX);
        let Some(first) = newer.id.get().checked_sub(index).and_then(EventId::new) else {
            return Ok(Some(AppendFate::Refused));
        };
        let options = ReadOptions {
            lower_bound: Some(Bound::Inclusive(first)),
            upper_bound: id_after(first, sent.len().saturating_sub(1)).map(Bound::Inclusive),
            ..ReadOptions::recursive()
        };
        let stored: Vec<_> = store.read(Subject::root(), options).try_collect().await?;
        let fate = if are_same(&stored, sent) {
            AppendFate::Recorded(first)
        } else {
            AppendFate::Refused
        };
        Ok(Some(fate))
    }
}

fn are_same(events: &[RecordedEvent], sent: &[EventCandidate]) -> bool {
    let is_same = |(event, sent): (&RecordedEvent, &EventCandidate)| {
        event.source == sent.source
            && event.subject == sent.subject
            && event.event_type == sent.event_type
            && event.data.get() == sent.data.get()
    };
    events.len() == sent.len() && events.iter().zip(sent).all(is_same)
}

fn id_after(first: EventId, index: usize) -> Option<EventId> {
    EventId::new(first.get().checked_add(u64::try_from(index).ok()?)?)
}
