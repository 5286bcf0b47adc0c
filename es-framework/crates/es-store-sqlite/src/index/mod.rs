//! The index of events by subject, by the subjects above it, and by type.
//!
//! It is a small log-structured merge tree with a SQLite table as its only level. The entries of new
//! events go to a memtable. When it is full, a compaction writes it to the table, a step with each
//! commit, while a second memtable takes the next entries. A plain SQL index on random subjects would
//! write one page for each event; ADR 0001 has the measurement.
//!
//! The table contains the entries of at least the first `covered` events. An unfinished compaction may
//! have added entries of later events. After a crash, the memtable is rebuilt from all events after the
//! first `covered`.

mod bloom_filter;
mod compaction;
mod key;
mod lookup;
mod memtable;
mod subject_page;

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};

use self::{
    bloom_filter::{BloomFilter, FilterProgress},
    memtable::Memtable,
    subject_page::SubjectPage,
};
use crate::database_error::SqliteError;
use es_store::{Order, options::IdRange};

pub(super) use compaction::{CompactionProgress, MemtableCompaction};
pub(super) use key::{
    EventKeys, IndexKey, SubjectKeyRange, child_of_key, descendants_key, subject_key,
    subject_of_key, type_key,
};
pub(super) use lookup::{EventIds, IndexLookup};
pub(super) use subject_page::read_subject_page;

/// The number of entries that the Bloom filter reads at once.
const FILTER_STEP: u64 = 512;

const LATEST: &str =
    "SELECT event_id FROM event_index WHERE key = ?1 ORDER BY event_id DESC LIMIT 1";

/// The index of the store: the entries in memory, and a summary of the entries on disk.
#[derive(Debug, Default)]
pub(super) struct PostingIndex {
    /// The number of events, from the first, that the table covers.
    covered: u64,
    /// The memtable that is being written to disk. All of its entries stay readable here.
    compacting: Arc<Memtable>,
    /// The number of events that the table covers when that is finished.
    compacting_to: u64,
    newest: Memtable,
    /// The subjects with an event. After a start, those on disk are missing until they are read step by step.
    bloom_filter: BloomFilter,
    length: u64,
}

impl PostingIndex {
    /// Creates the index of a store whose table covers the first `covered` events.
    pub(super) fn with_covered_events(covered: u64) -> Self {
        Self {
            covered,
            compacting_to: covered,
            length: covered,
            bloom_filter: BloomFilter::for_index_of(covered),
            ..Self::default()
        }
    }

    /// The number of events in the index.
    pub(super) const fn len(&self) -> u64 {
        self.length
    }

    pub(super) const fn covered(&self) -> u64 {
        self.covered
    }

    /// The number of entries that wait for the next compaction.
    pub(super) const fn pending(&self) -> usize {
        self.newest.len()
    }

    /// Inserts the next event.
    pub(super) fn insert(&mut self, keys: EventKeys, id: u64) {
        self.bloom_filter.insert(&keys.subject);
        for key in keys.into_keys() {
            self.newest.insert(key, id);
        }
        self.length = id.saturating_add(1);
    }

    /// Counts the events up to one that is damaged, without an entry of it.
    pub(super) fn skip_to(&mut self, id: u64) {
        self.length = id.saturating_add(1);
    }

    /// Returns the latest event of a subject.
    pub(super) fn latest_of_subject(
        &self,
        connection: &Connection,
        key: &[u8],
    ) -> rusqlite::Result<Option<u64>> {
        if self.bloom_filter.excludes(key) {
            return Ok(None);
        }
        self.latest(connection, key)
    }

    /// Returns the latest event of a key.
    pub(super) fn latest(
        &self,
        connection: &Connection,
        key: &[u8],
    ) -> rusqlite::Result<Option<u64>> {
        let in_memory = self.newest.latest(key);
        if let Some(id) = in_memory.or_else(|| self.compacting.latest(key)) {
            return Ok(Some(id));
        }
        let mut statement = connection.prepare_cached(LATEST)?;
        let id = statement.query_row([key], |row| row.get::<_, i64>(0));
        Ok(id.optional()?.and_then(|id| u64::try_from(id).ok()))
    }

    /// Prepares a lookup of the first `limit` events of some keys in a range.
    pub(super) fn lookup(
        &self,
        keys: Vec<IndexKey>,
        range: IdRange,
        order: Order,
        limit: usize,
    ) -> IndexLookup {
        let in_memory = |key: IndexKey| {
            let ids = self.ids_in_memory(&key, range, order, limit);
            (key, ids)
        };
        let keys = keys.into_iter().map(in_memory).collect();
        IndexLookup::new(keys, self.covered, range, order, limit)
    }

    fn ids_in_memory(&self, key: &[u8], range: IdRange, order: Order, limit: usize) -> Vec<u64> {
        let ids = |memtable: &Memtable| memtable.first_ids(key, range, order, limit);
        let (mut first, then) = match order {
            Order::Chronological => (ids(&self.compacting), ids(&self.newest)),
            Order::Antichronological => (ids(&self.newest), ids(&self.compacting)),
        };
        first.extend(then);
        first.truncate(limit);
        first
    }

    /// Returns the first key in memory that is in a range.
    pub(super) fn first_key_in_memory(&self, from: &[u8], to: &[u8]) -> Option<IndexKey> {
        let tables = [&self.newest, &*self.compacting];
        let first = tables.map(|table| table.first_key(from, to));
        first.into_iter().flatten().min().cloned()
    }

    /// Returns the subjects in memory that are in a range. Some are returned twice.
    pub(super) fn subjects_in_memory(&self, range: &SubjectKeyRange) -> Vec<IndexKey> {
        let mut keys = self.compacting.subjects_in(range);
        keys.extend(self.newest.subjects_in(range));
        keys
    }

    /// Starts to compact the entries in memory, unless a compaction runs already.
    pub(super) fn start_compaction(&mut self) -> MemtableCompaction {
        if self.compacting.is_empty() {
            self.compacting = Arc::new(std::mem::take(&mut self.newest));
            self.compacting_to = self.length;
        }
        MemtableCompaction::new(Arc::clone(&self.compacting), self.compacting_to)
    }

    /// Records that the compaction is durable. Returns the old memtable, so that the caller can free
    /// it after the lock is released.
    pub(super) fn finish_compaction(&mut self) -> impl Sized + use<> {
        self.covered = self.compacting_to;
        std::mem::take(&mut self.compacting)
    }

    /// Reads the next subjects on disk that the Bloom filter lacks. The start of the store does not
    /// wait for all of them.
    pub(super) fn read_subjects_missing_in_bloom_filter(
        &self,
        connection: &Connection,
    ) -> Option<MissingFilterSubjects> {
        match self.bloom_filter.progress() {
            // The character `0` comes right after the slash.
            FilterProgress::UpTo(after) => Some(MissingFilterSubjects(read_subject_page(
                connection,
                after,
                b"0",
                FILTER_STEP,
            ))),
            FilterProgress::Complete | FilterProgress::Failed => None,
        }
    }

    pub(super) fn add_to_bloom_filter(&mut self, subjects: MissingFilterSubjects) {
        self.bloom_filter.add_page(subjects.0);
    }

    pub(super) const fn is_bloom_filter_read(&self) -> bool {
        !matches!(self.bloom_filter.progress(), FilterProgress::UpTo(_))
    }
}

/// Subjects that the Bloom filter lacks.
#[derive(Debug)]
pub(super) struct MissingFilterSubjects(Result<SubjectPage, SqliteError>);
