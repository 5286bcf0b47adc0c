//! MemtableCompaction writes a memtable to the index table on disk, sorted by key. It merges no files. Entries of
//! neighbouring keys share pages, so a sorted run writes each page once. Writing each event's entries at once would
//! write a page for each event whose subject is random.

use std::{ops::Bound, sync::Arc};

use rusqlite::Connection;

use super::{key::IndexKey, memtable::Memtable};
use crate::row;

/// A memtable that is being written to disk.
#[derive(Debug, Default)]
pub(crate) struct MemtableCompaction {
    memtable: Arc<Memtable>,
    /// The number of events that the index on disk covers after this compaction.
    covers: u64,
    /// The last key that is on disk.
    after: Option<IndexKey>,
}

/// The result of one compaction step. It takes effect when its transaction is committed.
#[derive(Debug)]
pub(crate) enum CompactionProgress {
    Idle,
    /// All entries up to this key are written.
    WrittenTo(IndexKey),
    /// All entries and the new coverage are written.
    Finished,
}

impl MemtableCompaction {
    pub(super) const fn new(memtable: Arc<Memtable>, covers: u64) -> Self {
        let after = None;
        Self {
            memtable,
            covers,
            after,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.memtable.is_empty()
    }

    /// Writes the next entries to the table, about `budget` of them. A step whose transaction failed is repeated: writing an entry
    /// twice changes nothing.
    pub(crate) fn write_entries(
        &self,
        connection: &Connection,
        budget: usize,
    ) -> rusqlite::Result<CompactionProgress> {
        if self.is_idle() || budget == 0 {
            return Ok(CompactionProgress::Idle);
        }
        let after = match &self.after {
            Some(key) => Bound::Excluded(&**key),
            None => Bound::Unbounded,
        };
        let mut statement =
            connection.prepare_cached("INSERT OR IGNORE INTO event_index VALUES (?1, ?2)")?;
        let mut written = 0_usize;
        let left = (after, Bound::Unbounded);
        for (key, ids) in self.memtable.lists.range::<[u8], _>(left) {
            for id in ids.as_slice() {
                statement.execute((&**key, row::number(*id)))?;
            }
            written = written.saturating_add(ids.as_slice().len());
            if written >= budget {
                return Ok(CompactionProgress::WrittenTo(key.clone()));
            }
        }
        connection
            .prepare_cached("UPDATE index_state SET indexed = ?1")?
            .execute([row::number(self.covers)])?;
        Ok(CompactionProgress::Finished)
    }

    /// Continues after a durable step. Returns whether the compaction is finished.
    pub(crate) fn step_committed(&mut self, step: CompactionProgress) -> bool {
        match step {
            CompactionProgress::Idle => false,
            CompactionProgress::WrittenTo(key) => {
                self.after = Some(key);
                false
            }
            CompactionProgress::Finished => {
                *self = Self::default();
                true
            }
        }
    }
}
