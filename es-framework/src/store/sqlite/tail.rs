//! The newest part of the subject index. It is kept in memory, in order, until it is merged into
//! the part on disk: an index on disk that is kept up to date with every event costs three
//! quarters of the writes.

use std::{
    collections::{BTreeMap, btree_map},
    ops::Bound,
    sync::Arc,
};

use super::{
    filter::Filter,
    key::{Family, Key},
    merge::Merge,
    recent::Recent,
    types::Types,
};
use crate::store::{Order, options::IdRange};

/// Subjects in order, and the ids of their events.
pub(super) type Subjects = BTreeMap<Key, Ids>;

/// The ids of one subject's events, ascending. Most subjects have one event among the newest.
#[derive(Debug)]
pub(super) enum Ids {
    One(u64),
    Many(Vec<u64>),
}

impl Ids {
    pub(super) fn as_slice(&self) -> &[u64] {
        match self {
            Self::One(id) => std::slice::from_ref(id),
            Self::Many(ids) => ids,
        }
    }

    fn push(&mut self, id: u64) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, id]),
            Self::Many(ids) => ids.push(id),
        }
    }
}

/// What the index has of an event.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) subject: Key,
    /// The first event of its type.
    pub(super) event_type: u64,
}

/// The index of some events.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) subjects: Subjects,
    pub(super) types: Types,
}

/// What is indexed where.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// How many events, from the first, the index on disk covers.
    indexed: u64,
    /// How many of those its part by type covers: fewer in a file of an older format.
    typed: u64,
    /// The events after those that are being merged: some are on disk already, all are here.
    merging: Arc<Entries>,
    /// How many events the index on disk will cover once that is done.
    merging_to: u64,
    /// The events after those.
    newest: Entries,
    newest_events: usize,
    /// Every subject that has an event, here or on disk.
    pub(super) filter: Filter,
    /// The newest events themselves, as many as were kept.
    pub(super) recent: Recent,
    /// How many events there are.
    length: u64,
}

impl Tail {
    /// A tail that begins after the events that the disk covers.
    pub(super) fn after(indexed: u64, typed: u64) -> Self {
        Self {
            indexed,
            typed,
            merging_to: indexed,
            length: indexed,
            filter: Filter::after(indexed),
            ..Self::default()
        }
    }

    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    pub(super) const fn indexed(&self) -> u64 {
        self.indexed
    }

    pub(super) const fn typed(&self) -> u64 {
        self.typed
    }

    /// The part by type has caught up by some events.
    pub(super) const fn has_typed(&mut self, typed: u64) {
        self.typed = typed;
    }

    pub(super) const fn newest_events(&self) -> usize {
        self.newest_events
    }

    /// Takes in the next event.
    pub(super) fn push(&mut self, entry: Entry, id: u64) {
        let Entry {
            subject,
            event_type,
        } = entry;
        self.filter.insert(&subject);
        self.newest.types.entry(event_type).or_default().push(id);
        match self.newest.subjects.entry(subject) {
            btree_map::Entry::Occupied(ids) => ids.into_mut().push(id),
            btree_map::Entry::Vacant(none) => {
                none.insert(Ids::One(id));
            }
        }
        self.newest_events = self.newest_events.saturating_add(1);
        self.length = id.saturating_add(1);
    }

    /// The latest event of a subject, if it is among these.
    pub(super) fn latest(&self, subject: &[u8]) -> Option<u64> {
        let of = |subjects: &Subjects| subjects.get(subject)?.as_slice().last().copied();
        of(&self.newest.subjects).or_else(|| of(&self.merging.subjects))
    }

    /// Begins to merge what is here, unless that is going on. What comes next is kept apart.
    pub(super) fn begin_merge(&mut self) {
        if self.merging.subjects.is_empty() {
            self.merging = Arc::new(std::mem::take(&mut self.newest));
            self.merging_to = self.length;
            self.newest_events = 0;
        }
    }

    /// What is being merged.
    pub(super) fn merging(&self) -> Merge {
        Merge::of(Arc::clone(&self.merging), self.indexed, self.merging_to)
    }

    /// What was being merged is on disk.
    pub(super) fn end_merge(&mut self) -> Arc<Entries> {
        if self.typed == self.indexed {
            self.typed = self.merging_to;
        }
        self.indexed = self.merging_to;
        std::mem::take(&mut self.merging)
    }

    /// The first `limit` ids of a subject in a range, in the order asked for.
    pub(super) fn ids(
        &self,
        subject: &[u8],
        range: IdRange,
        order: Order,
        limit: usize,
    ) -> Vec<u64> {
        let of = |entries: &'_ Entries| -> Vec<u64> {
            let ids = entries.subjects.get(subject).map_or(&[][..], Ids::as_slice);
            first(ids, range, order, limit)
        };
        self.joined(order, limit, of)
    }

    /// The first `limit` ids of a type in a range, in the order asked for.
    pub(super) fn ids_of_type(
        &self,
        event_type: u64,
        range: IdRange,
        order: Order,
        limit: usize,
    ) -> Vec<u64> {
        let of = |entries: &'_ Entries| -> Vec<u64> {
            let ids = entries
                .types
                .get(&event_type)
                .map_or(&[][..], Vec::as_slice);
            first(ids, range, order, limit)
        };
        self.joined(order, limit, of)
    }

    fn joined(&self, order: Order, limit: usize, of: impl Fn(&Entries) -> Vec<u64>) -> Vec<u64> {
        let (mut ids, more) = match order {
            Order::Chronological => (of(&self.merging), of(&self.newest)),
            Order::Antichronological => (of(&self.newest), of(&self.merging)),
        };
        ids.extend(more);
        ids.truncate(limit);
        ids
    }

    /// A subject and all below it, as far as they are here; some twice.
    pub(super) fn subjects_within(&self, family: &Family) -> Vec<Key> {
        let mut found = Vec::new();
        for subjects in [&self.merging.subjects, &self.newest.subjects] {
            let itself = subjects.get_key_value(&*family.itself);
            let below = subjects.range::<[u8], _>((
                Bound::Included(&*family.below_from),
                Bound::Excluded(&*family.below_to),
            ));
            found.extend(itself.into_iter().chain(below).map(|(key, _)| key.clone()));
        }
        found
    }

    /// The ids of a subject and of all below it, in no order; `None` if there are more than `limit`.
    pub(super) fn ids_within(&self, family: &Family, limit: usize) -> Option<Vec<u64>> {
        let mut found = Vec::new();
        for subjects in [&self.merging.subjects, &self.newest.subjects] {
            let itself = subjects.get(&*family.itself);
            let below = subjects.range::<[u8], _>((
                Bound::Included(&*family.below_from),
                Bound::Excluded(&*family.below_to),
            ));
            for ids in itself.into_iter().chain(below.map(|(_, ids)| ids)) {
                found.extend_from_slice(ids.as_slice());
                if found.len() > limit {
                    return None;
                }
            }
        }
        Some(found)
    }
}

/// The first `limit` of ascending ids in a range, in the order asked for.
fn first(ids: &[u64], range: IdRange, order: Order, limit: usize) -> Vec<u64> {
    let first = ids.partition_point(|id| *id < range.first);
    let end = ids.partition_point(|id| *id <= range.last);
    let ids = ids.get(first..end).unwrap_or_default().iter().copied();
    match order {
        Order::Chronological => ids.take(limit).collect(),
        Order::Antichronological => ids.rev().take(limit).collect(),
    }
}
