//! The rows that are held while a batch of events is folded: a row waits at an event that it cannot take, and all others
//! go on.

use std::{collections::BTreeMap, sync::Arc};

use es_event::{EventId, PoisonEvent, RecordedEvent, Subject};
use es_subscribe::{HeldKey, HeldKeyId, HeldKeyKind, HeldKeys, MAX_HELD_KEYS, SkippedEvents};

use super::RowKey;

/// A failure that shows when the changes of a batch are applied or written. The batch is then folded again, and the row
/// is held at the event.
#[derive(Debug, Clone)]
pub(super) struct LateFailure {
    pub(super) event: EventId,
    pub(super) row: HeldKeyId,
    pub(super) reason: String,
}

/// Decides which rows take the events of a batch.
#[derive(Debug)]
pub(super) struct RowHolds {
    /// The keys that are held before the batch.
    before: HeldKeys,
    /// The keys that the batch holds or counts.
    changed: BTreeMap<HeldKeyId, HeldKey>,
    /// The last failure of each row that showed late. An earlier one was found before an event was skipped.
    late: BTreeMap<HeldKeyId, LateFailure>,
    /// The only rows that the batch may change, each from an event on. `None` stands for all rows.
    selected: Option<BTreeMap<HeldKeyId, EventId>>,
    skipped: Arc<SkippedEvents>,
    /// True if an event is skipped whose changes may be in the fold already.
    has_new_skip: bool,
    /// The event at which one more row would be held than the limit allows.
    excess: Option<PoisonEvent>,
}

impl RowHolds {
    pub(super) fn new(before: HeldKeys, skipped: Arc<SkippedEvents>, late: &[LateFailure]) -> Self {
        let late = late.iter().map(|one| (one.row.clone(), one.clone()));
        Self {
            before,
            changed: BTreeMap::new(),
            late: late.collect(),
            selected: None,
            skipped,
            has_new_skip: false,
            excess: None,
        }
    }

    /// Lets only these rows take events, each from an event on.
    pub(super) fn select(self, rows: impl Iterator<Item = (HeldKeyId, EventId)>) -> Self {
        let selected = Some(rows.collect());
        Self { selected, ..self }
    }

    /// Returns true if the row with this key takes the event.
    pub(super) fn admit_to_row(&mut self, key: &RowKey, event: &RecordedEvent) -> bool {
        if self.is_unused() {
            return true;
        }
        let text = key.to_text();
        if !self.admit(HeldKeyKind::Row, &text, event) {
            return false;
        }
        // The row of an earlier event on the subject is unknown, and may be this one.
        let subject = subject_id(&event.subject);
        let Some(unknown) = self.find(&subject) else {
            return true;
        };
        let poison = PoisonEvent {
            id: event.id,
            subject: Some(event.subject.clone()),
            ..unknown.poison.clone()
        };
        self.count(&subject, event);
        self.insert(HeldKeyKind::Row, &text, poison, event);
        false
    }

    /// Returns true if the rows of the event's subject take it.
    pub(super) fn admit_to_subject(&mut self, event: &RecordedEvent) -> bool {
        self.is_unused() || self.admit(HeldKeyKind::Subject, event.subject.as_str(), event)
    }

    /// Holds a row at an event that it cannot take, or the subject if the event does not tell its row.
    pub(super) fn hold(
        &mut self,
        key: Option<&RowKey>,
        event: &RecordedEvent,
        error: impl ToString,
    ) {
        let reason = error.to_string();
        match key {
            Some(key) => self.hold_key(HeldKeyKind::Row, &key.to_text(), event, reason),
            None => {
                let subject = event.subject.as_str();
                self.hold_key(HeldKeyKind::Subject, subject, event, reason);
            }
        }
    }

    /// Returns true if the event is skipped without an attempt, or if it comes after the limit was reached.
    pub(super) fn passes_over(&self, event: EventId) -> bool {
        self.excess.is_some() || self.skipped.contains(event)
    }

    /// Returns the event at which one more row would be held than the limit allows.
    pub(super) const fn excess(&self) -> Option<&PoisonEvent> {
        self.excess.as_ref()
    }

    /// Returns true if the batch has to be folded again without events that are skipped now.
    pub(super) const fn has_new_skip(&self) -> bool {
        self.has_new_skip
    }

    /// Returns true if the same rows were held before the batch.
    pub(super) fn is_based_on(&self, before: &HeldKeys) -> bool {
        self.before.is_same(before)
    }

    /// Returns the keys that the batch holds or counts.
    pub(super) fn into_changed(self) -> Vec<HeldKey> {
        self.changed.into_values().collect()
    }

    fn is_unused(&self) -> bool {
        self.before.is_empty()
            && self.changed.is_empty()
            && self.late.is_empty()
            && self.selected.is_none()
    }

    fn admit(&mut self, kind: HeldKeyKind, key: &str, event: &RecordedEvent) -> bool {
        let id = HeldKeyId::new(kind, key);
        if !self.is_selected(&id, event) || self.count(&id, event) {
            return false;
        }
        let late = self.late.get(&id).filter(|late| late.event == event.id);
        let Some(reason) = late.map(|late| late.reason.clone()) else {
            return true;
        };
        self.hold_key(kind, key, event, reason);
        false
    }

    /// Returns true if the batch may change the row. A row that is read again contains the events before its hold.
    fn is_selected(&self, id: &HeldKeyId, event: &RecordedEvent) -> bool {
        let Some(selected) = &self.selected else {
            return true;
        };
        selected.get(id).is_some_and(|from| *from <= event.id)
    }

    fn hold_key(&mut self, kind: HeldKeyKind, key: &str, event: &RecordedEvent, reason: String) {
        let id = HeldKeyId::new(kind, key);
        if !self.is_selected(&id, event) || self.count(&id, event) {
            return;
        }
        let poison = PoisonEvent::new(event, reason);
        if self.skipped.excuse(&poison) {
            self.has_new_skip = true;
        } else {
            self.insert(kind, key, poison, event);
        }
    }

    fn insert(&mut self, kind: HeldKeyKind, key: &str, poison: PoisonEvent, event: &RecordedEvent) {
        let new = self
            .changed
            .keys()
            .filter(|id| self.before.find(id).is_none());
        if self.before.len().saturating_add(new.count()) >= MAX_HELD_KEYS {
            self.excess.get_or_insert(poison);
            return;
        }
        let time = event.time.timestamp().unwrap_or_default();
        let held = HeldKey::new(kind, key, poison, time);
        self.changed.insert(held.id.clone(), held);
    }

    fn find(&self, id: &HeldKeyId) -> Option<&HeldKey> {
        self.changed.get(id).or_else(|| self.before.find(id))
    }

    /// Counts an event of a held key. Returns false if the key is not held.
    fn count(&mut self, id: &HeldKeyId, event: &RecordedEvent) -> bool {
        let Some(mut held) = self.find(id).cloned() else {
            return false;
        };
        // Several rows can follow from the event at which the key is held.
        if held.poison.id != event.id {
            held.add_event(event);
            self.changed.insert(id.clone(), held);
        }
        true
    }
}

/// Returns the identity of a held subject.
pub(super) fn subject_id(subject: &Subject) -> HeldKeyId {
    HeldKeyId::new(HeldKeyKind::Subject, subject.as_str())
}
