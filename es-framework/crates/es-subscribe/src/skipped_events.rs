//! The events that a subscriber skips because an operator has chosen so.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use es_event::{EventId, EventSelection, PoisonEvent};

/// The events that a subscriber skips.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct SkippedEvents(Mutex<SkippedSelections>);

#[derive(Debug, Default)]
struct SkippedSelections {
    /// The events that are skipped without an attempt.
    ids: BTreeSet<EventId>,
    /// The selections whose events are skipped if they cannot be handled.
    selections: Vec<EventSelection>,
}

impl SkippedEvents {
    /// Creates the set: `ids` are skipped without an attempt, events of `selections` if they cannot be handled.
    #[must_use]
    pub fn new(ids: BTreeSet<EventId>, selections: Vec<EventSelection>) -> Self {
        Self(Mutex::new(SkippedSelections { ids, selections }))
    }

    /// Returns true if an event is skipped without an attempt.
    #[must_use]
    pub fn contains(&self, event: EventId) -> bool {
        self.lock().ids.contains(&event)
    }

    /// Skips an event that cannot be handled, if it is selected. Returns true if it is skipped.
    #[must_use]
    pub fn excuse(&self, poison: &PoisonEvent) -> bool {
        let is_selected = self.covers(poison);
        if is_selected {
            tracing::warn!(event = %poison.id, error = poison.reason, "an event that cannot be handled is skipped, as an operator has chosen");
            self.lock().ids.insert(poison.id);
        }
        is_selected
    }

    /// Returns true if an event that cannot be handled is selected.
    #[must_use]
    pub fn covers(&self, poison: &PoisonEvent) -> bool {
        let skipped = self.lock();
        skipped.selections.iter().any(|one| one.covers(poison))
    }

    /// Returns true if an operator has selected the event by its id.
    #[must_use]
    pub fn covers_by_id(&self, poison: &PoisonEvent) -> bool {
        let skipped = self.lock();
        let mut by_id = skipped.selections.iter().filter(|one| one.ids().is_some());
        by_id.any(|one| one.covers(poison))
    }

    /// Replaces the selections by those that the event store has.
    pub fn replace_selections(&self, selections: Vec<EventSelection>) {
        self.lock().selections = selections;
    }

    /// Adds events to those that are skipped.
    pub fn add_selection(&self, selection: EventSelection) {
        self.lock().selections.push(selection);
    }

    /// Locks the set. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, SkippedSelections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
