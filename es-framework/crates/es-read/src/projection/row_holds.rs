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

/// The state of a row, or of a subject whose rows are unknown, while a batch is folded.
///
/// | | an event that it can take | an event that it cannot take |
/// |---|---|---|
/// | outside | passed over | passed over |
/// | free | taken | skipped if an operator has chosen so, and otherwise held |
/// | held | counted | counted |
enum RowState {
    /// The batch may not change the row.
    Outside,
    Free,
    /// It waits at an event.
    Held(HeldKey),
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
    /// The only rows that the batch may change, each from an event on: before it, the row contains the events. `None`
    /// stands for all rows.
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

    /// Lets only these held rows take events, each from its hold on.
    pub(super) fn select(self, rows: &HeldKeys) -> Self {
        let starts = rows.iter().map(|row| (row.id.clone(), row.poison.id));
        let selected = Some(starts.collect());
        Self { selected, ..self }
    }

    /// Returns true if the row with this key takes the event.
    pub(super) fn admit_to_row(&mut self, key: &RowKey, event: &RecordedEvent) -> bool {
        if self.is_unused() {
            return true;
        }
        let text = key.to_text();
        if !self.offer(HeldKeyKind::Row, &text, event, None) {
            return false;
        }
        // The row of an earlier event on the subject is unknown, and may be this one.
        let Some(mut unknown) = self.find(&subject_id(&event.subject)) else {
            return true;
        };
        let poison = PoisonEvent {
            id: event.id,
            subject: Some(event.subject.clone()),
            ..unknown.poison.clone()
        };
        self.count(&mut unknown, event);
        self.insert(HeldKeyKind::Row, &text, poison, event);
        false
    }

    /// Returns true if the rows of the event's subject take it.
    pub(super) fn admit_to_subject(&mut self, event: &RecordedEvent) -> bool {
        self.is_unused() || self.offer(HeldKeyKind::Subject, event.subject.as_str(), event, None)
    }

    /// Holds a row at an event that it cannot take, or the subject if the event does not tell its row.
    pub(super) fn hold(
        &mut self,
        key: Option<&RowKey>,
        event: &RecordedEvent,
        error: impl ToString,
    ) {
        let reason = Some(error.to_string());
        match key {
            Some(key) => self.offer(HeldKeyKind::Row, &key.to_text(), event, reason),
            None => self.offer(HeldKeyKind::Subject, event.subject.as_str(), event, reason),
        };
    }

    /// Returns true if the event is skipped without an attempt, or if it comes after the limit was reached.
    pub(super) fn is_passed_over(&self, event: EventId) -> bool {
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

    /// Offers an event, with the reason why it cannot be taken if that is known. Returns true if it is taken.
    fn offer(
        &mut self,
        kind: HeldKeyKind,
        key: &str,
        event: &RecordedEvent,
        failure: Option<String>,
    ) -> bool {
        let id = HeldKeyId::new(kind, key);
        match self.state_of(&id, event.id) {
            RowState::Outside => {}
            RowState::Held(mut held) => self.count(&mut held, event),
            RowState::Free => {
                let late = self.late.get(&id).filter(|late| late.event == event.id);
                let Some(reason) = failure.or_else(|| Some(late?.reason.clone())) else {
                    return true;
                };
                let poison = PoisonEvent::new(event, reason);
                if self.skipped.excuse(&poison) {
                    self.has_new_skip = true;
                } else {
                    self.insert(kind, key, poison, event);
                }
            }
        }
        false
    }

    fn state_of(&self, id: &HeldKeyId, event: EventId) -> RowState {
        let is_selected = self.selected.as_ref().is_none_or(|selected| {
            let from = selected.get(id);
            from.is_some_and(|from| *from <= event)
        });
        if is_selected {
            self.find(id).map_or(RowState::Free, RowState::Held)
        } else {
            RowState::Outside
        }
    }

    fn find(&self, id: &HeldKeyId) -> Option<HeldKey> {
        let held = self.changed.get(id).or_else(|| self.before.find(id));
        held.cloned()
    }

    /// Counts an event of a held key. Several rows can follow from the event at which the key is held.
    fn count(&mut self, held: &mut HeldKey, event: &RecordedEvent) {
        if held.poison.id != event.id {
            held.add_event(event);
            self.changed.insert(held.id.clone(), held.clone());
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
}

/// Returns the identity of a held subject.
fn subject_id(subject: &Subject) -> HeldKeyId {
    HeldKeyId::new(HeldKeyKind::Subject, subject.as_str())
}
