//! How reactions are doing, for the health check and for operators.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;

use super::Refused;
use crate::event::EventId;

/// How one reaction is doing.
///
/// ```
/// use es_framework::reaction::Status;
///
/// let begins = Status::default();
/// assert!(begins.position.is_none() && begins.trouble.is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// The last event that it has taken.
    pub position: Option<EventId>,
    /// How many deadlines are open, of those that are kept in memory.
    pub open_deadlines: usize,
    /// When the next one is due.
    pub next_deadline: Option<Timestamp>,
    /// What keeps it from going on, if anything.
    pub trouble: Option<String>,
    /// The event that stopped it, if one did: an operator, or another start, lets it try again.
    pub stopped_at: Option<Refused>,
}

impl Status {
    /// Whether an event stopped it.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped_at.is_some()
    }
}

/// How the reactions of an application are doing. Clones share it.
///
/// ```
/// use es_framework::reaction::Statuses;
///
/// /// The reactions that somebody has to look after.
/// fn troubled(statuses: &Statuses) -> Vec<&'static str> {
///     let troubled = statuses.all().into_iter().filter(|(_, status)| status.trouble.is_some());
///     troubled.map(|(name, _)| name).collect()
/// }
///
/// assert!(troubled(&Statuses::default()).is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Statuses(Arc<Mutex<BTreeMap<&'static str, Status>>>);

impl Statuses {
    /// Every reaction by its name.
    #[must_use]
    pub fn all(&self) -> BTreeMap<&'static str, Status> {
        self.lock().clone()
    }

    pub(super) fn change(&self, reaction: &'static str, change: impl FnOnce(&mut Status)) {
        change(self.lock().entry(reaction).or_default());
    }

    /// Each change is whole, so a panic cannot have left one half done.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Status>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
