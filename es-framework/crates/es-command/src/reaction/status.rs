//! The statuses of reactions, for the health check and for operators.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;

use super::PoisonEvent;
use es_event::EventId;

/// The status of one reaction.
///
/// ```
/// use es_framework::reaction::ReactionStatus;
///
/// let new = ReactionStatus::default();
/// assert!(new.position.is_none() && new.trouble.is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReactionStatus {
    /// The last event that the reaction has handled.
    pub position: Option<EventId>,
    /// The number of open deadlines in memory.
    pub open_deadlines: usize,
    /// The time of the next deadline.
    pub next_deadline: Option<Timestamp>,
    /// The reason why the reaction does not advance, if there is one.
    pub trouble: Option<String>,
    /// The poison event at which the reaction is parked. An operator or a restart makes it retry.
    pub stopped_at: Option<PoisonEvent>,
}

impl ReactionStatus {
    /// Returns whether the reaction is parked at a poison event.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped_at.is_some()
    }
}

/// The statuses of all reactions of an application. Clones share them.
///
/// ```
/// use es_framework::reaction::ReactionStatuses;
///
/// /// Returns the reactions that need attention.
/// fn troubled(statuses: &ReactionStatuses) -> Vec<&'static str> {
///     let troubled = statuses.all_by_name().into_iter().filter(|(_, status)| status.trouble.is_some());
///     troubled.map(|(name, _)| name).collect()
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

    /// Changes the status of a reaction.
    pub(super) fn change(&self, reaction: &'static str, change: impl FnOnce(&mut ReactionStatus)) {
        change(self.lock().entry(reaction).or_default());
    }

    /// Locks the map. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, ReactionStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
