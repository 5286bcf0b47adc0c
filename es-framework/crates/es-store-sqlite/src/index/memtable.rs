//! The entries of the index that are in memory, sorted by key.

use std::{collections::BTreeMap, ops::Bound};

use super::key::{IndexKey, SubjectKeyRange};
use es_store::{Order, options::IdRange};

/// The ids of the events of one key, ascending. Most subjects have one event in a memtable.
#[derive(Debug)]
pub(super) enum PostingList {
    One(u64),
    Many(Vec<u64>),
}

impl PostingList {
    pub(super) fn as_slice(&self) -> &[u64] {
        match self {
            Self::One(id) => std::slice::from_ref(id),
            Self::Many(ids) => ids,
        }
    }

    /// Adds an id that is higher than the others.
    fn push(&mut self, id: u64) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, id]),
            Self::Many(ids) => ids.push(id),
        }
    }
}

/// Index entries in memory.
#[derive(Debug, Default)]
pub(super) struct Memtable {
    pub(super) lists: BTreeMap<IndexKey, PostingList>,
    entries: usize,
}

impl Memtable {
    pub(super) const fn len(&self) -> usize {
        self.entries
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(super) fn insert(&mut self, key: IndexKey, id: u64) {
        self.entries = self.entries.saturating_add(1);
        self.lists
            .entry(key)
            .and_modify(|ids| ids.push(id))
            .or_insert(PostingList::One(id));
    }

    fn ids(&self, key: &[u8]) -> &[u64] {
        self.lists.get(key).map_or(&[], PostingList::as_slice)
    }

    pub(super) fn latest(&self, key: &[u8]) -> Option<u64> {
        self.ids(key).last().copied()
    }

    /// Returns the first `limit` ids of a key in a range, in the given order.
    pub(super) fn first_ids(
        &self,
        key: &[u8],
        range: IdRange,
        order: Order,
        limit: usize,
    ) -> Vec<u64> {
        let ids = self.ids(key);
        let first = ids.partition_point(|id| *id < range.first);
        let end = ids.partition_point(|id| *id <= range.last);
        let ids = ids.get(first..end).unwrap_or_default().iter().copied();
        match order {
            Order::Chronological => ids.take(limit).collect(),
            Order::Antichronological => ids.rev().take(limit).collect(),
        }
    }

    /// Returns the first key of a range.
    pub(super) fn first_key(&self, from: &[u8], to: &[u8]) -> Option<&IndexKey> {
        // A range whose bounds are in the wrong order would panic.
        let from = (Bound::Included(from), Bound::Unbounded);
        let (first, _) = self.lists.range::<[u8], _>(from).next()?;
        Some(first).filter(|first| ***first < *to)
    }

    pub(super) fn subjects_in(&self, range: &SubjectKeyRange) -> Vec<IndexKey> {
        let base = self.lists.get_key_value(&*range.base);
        let below = (
            Bound::Included(&*range.below_from),
            Bound::Excluded(&*range.below_to),
        );
        let below = self.lists.range::<[u8], _>(below);
        let found = base.into_iter().chain(below);
        found.map(|(key, _)| key.clone()).collect()
    }
}
