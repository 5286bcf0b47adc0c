//! The events that a read model skips because an operator has chosen so.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use es_event::{EventId, EventSelection, PoisonEvent};

/// The events that a read model skips.
#[derive(Debug, Default)]
pub(super) struct SkippedEvents {
    /// The events that are skipped without an attempt.
    ids: Mutex<BTreeSet<EventId>>,
    /// The selections whose events are skipped if they cannot be handled.
    selections: Vec<EventSelection>,
}

impl SkippedEvents {
    pub(super) fn new(ids: BTreeSet<EventId>, selections: Vec<EventSelection>) -> Self {
        let ids = Mutex::new(ids);
        Self { ids, selections }
    }

    pub(super) fn contains(&self, event: EventId) -> bool {
        self.lock().contains(&event)
    }

    /// Skips an event that cannot be handled, if it is selected. Returns true if it is skipped.
    pub(super) fn excuse(&self, poison: &PoisonEvent) -> bool {
        let is_selected = self.selections.iter().any(|one| one.covers(poison));
        if is_selected {
            tracing::warn!(event = %poison.id, error = poison.reason, "an event that cannot be handled is skipped, as an operator has chosen");
            self.lock().insert(poison.id);
        }
        is_selected
    }

    /// Locks the ids. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<EventId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
