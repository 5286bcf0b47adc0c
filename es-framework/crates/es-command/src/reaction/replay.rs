//! The replay of a sink: an operator lets events be delivered again.

use std::num::NonZeroU64;

use es_event::{EventId, EventSelection, Subject};
use es_store::{Bound, ReadOptions};
use es_subscribe::{
    operator::{OperatorError, ReplayOutcome},
    state::TaskChange,
};
use futures_util::TryStreamExt as _;

use super::{ReactionError, shared_reaction::SharedReaction};

/// The most events that one replay reads.
const MAX_EVENTS: u64 = 10_000;
/// The most tasks that are saved in one transaction.
const MAX_TASKS: usize = 500;

/// The events that are delivered again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplayRange {
    /// The subject. Without it, the events of all subjects are delivered.
    subject: Option<Subject>,
    from: EventId,
    to: Option<EventId>,
}

impl ReplayRange {
    /// Returns the events of a selection: one event, a range, or those of one subject.
    pub(super) fn from_selection(
        selection: Option<&EventSelection>,
    ) -> Result<Self, OperatorError> {
        let wrong = OperatorError::WrongReplay(
            "needs its events: one event, the first and the last event of a range, or a subject as the key",
        );
        let all = Self {
            subject: None,
            from: EventId::FIRST,
            to: None,
        };
        match selection {
            Some(EventSelection::Key { key }) => {
                let subject = key.parse().map_err(|_| {
                    OperatorError::WrongReplay("takes a subject as the key, such as /books/42")
                })?;
                let subject = Some(subject);
                Ok(Self { subject, ..all })
            }
            Some(other) => {
                let (from, to) = other.ids().ok_or(wrong)?;
                let to = Some(to);
                Ok(Self { from, to, ..all })
            }
            None => Err(wrong),
        }
    }
}

impl SharedReaction {
    /// Plans the tasks of events again, up to the last one that is planned already. A task that is not finished stays as it
    /// is. Returns nothing if the sink does not work.
    pub(super) async fn plan_replay(
        &self,
        range: ReplayRange,
    ) -> Result<Option<ReplayOutcome>, ReactionError> {
        // No sink begins or ends meanwhile.
        let planned = self.planned.lock().await;
        let mut outcome = ReplayOutcome {
            planned: 0,
            next: None,
        };
        if !planned.is_loaded {
            return Ok(None);
        }
        let Some(last) = planned.event else {
            return Ok(Some(outcome));
        };
        let to = range.to.map_or(last, |to| to.min(last));
        let options = ReadOptions {
            recursive: range.subject.is_none(),
            lower_bound: Some(Bound::Inclusive(range.from)),
            upper_bound: Some(Bound::Inclusive(to)),
            event_types: self.steps.event_types.to_vec(),
            limit: NonZeroU64::new(MAX_EVENTS.saturating_add(1)),
            ..ReadOptions::default()
        };
        let subject = range.subject.unwrap_or(Subject::root());
        let mut events = self.steps.runtime.store.read(subject, options);
        let (mut changes, mut read) = (Vec::new(), 0_u64);
        while let Some(event) = events.try_next().await? {
            if read == MAX_EVENTS {
                outcome.next = Some(event.id);
                break;
            }
            read = read.saturating_add(1);
            changes.extend(self.steps.plan_event(&event));
        }
        self.announce().await?;
        for chunk in changes.chunks(MAX_TASKS) {
            self.state().commit(self.name(), None, chunk).await?;
        }
        let is_plan = |change: &&TaskChange| matches!(change, TaskChange::Plan(_));
        outcome.planned = changes.iter().filter(is_plan).count();
        drop(planned);
        self.wake.notify_one();
        Ok(Some(outcome))
    }
}
