//! The statuses of reactions, for the health check and for operators.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;

use es_event::{EventId, PoisonEvent};
use es_runtime::operator::SubscriberState;

/// The status of one reaction.
///
/// ```
/// use es_framework::reaction::ReactionStatus;
///
/// let new = ReactionStatus::default();
/// assert_eq!((new.position, new.state.name()), (None, "working"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReactionStatus {
    /// The last event that the reaction has handled.
    pub position: Option<EventId>,
    /// The number of open deadlines in memory.
    pub open_deadlines: usize,
    /// The time of the next deadline.
    pub next_deadline: Option<Timestamp>,
    /// The state of the reaction: whether it works, and if not, why.
    pub state: SubscriberState,
}

impl ReactionStatus {
    /// Returns true if the reaction has stopped, so that somebody has to remove the cause.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.state.is_stopped()
    }

    /// Returns the event that the reaction cannot handle, if there is one.
    #[must_use]
    pub fn poison_event(&self) -> Option<&PoisonEvent> {
        self.state.poison_event()
    }
}

/// The statuses of all reactions of an application. Clones share them.
///
/// ```
/// use es_framework::reaction::ReactionStatuses;
///
/// /// Returns the reactions that need attention.
/// fn troubled(statuses: &ReactionStatuses) -> Vec<&'static str> {
///     let all = statuses.all_by_name().into_iter();
///     all.filter(|(_, status)| status.state.is_down()).map(|(name, _)| name).collect()
/// }
///
/// assert!(troubled(&ReactionStatuses::default()).is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReactionStatuses(Arc<Mutex<BTreeMap<&'static str, ReactionStatus>>>);

impl ReactionStatuses {
    /// Returns the status of every reaction by name.
    #[must_use]
    pub fn all_by_name(&self) -> BTreeMap<&'static str, ReactionStatus> {
        self.lock().clone()
    }

    /// Returns the status of a reaction.
    pub(super) fn find(&self, reaction: &'static str) -> ReactionStatus {
        self.lock().get(reaction).cloned().unwrap_or_default()
    }

    /// Changes the status of a reaction.
    pub(super) fn change(&self, reaction: &'static str, change: impl FnOnce(&mut ReactionStatus)) {
        change(self.lock().entry(reaction).or_default());
    }

    /// Locks the map. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, ReactionStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
