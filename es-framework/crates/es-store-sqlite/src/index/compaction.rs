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
    /// The last entry that is on disk.
    after: Option<IndexEntry>,
}

/// A key with the id of one of its events.
type IndexEntry = (IndexKey, u64);

/// The result of one compaction step. It takes effect when its transaction is committed.
#[derive(Debug)]
pub(crate) enum CompactionProgress {
    Idle,
    /// All entries up to this one are written.
    WrittenTo(IndexEntry),
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

    /// Writes the next entries to the table, at most `budget` of them. A frequent key, such as an event type, has
    /// most of a memtable's ids, so a step may end within a key. A step whose transaction failed is repeated:
    /// writing an entry twice changes nothing.
    pub(crate) fn write_entries(
        &self,
        connection: &Connection,
        budget: usize,
    ) -> rusqlite::Result<CompactionProgress> {
        if self.is_idle() || budget == 0 {
            return Ok(CompactionProgress::Idle);
        }
        let mut statement =
            connection.prepare_cached("INSERT OR IGNORE INTO event_index VALUES (?1, ?2)")?;
        let mut left = budget;
        for (key, ids) in self.entries_left() {
            for id in ids {
                statement.execute((&**key, row::number(*id)))?;
                left = left.saturating_sub(1);
                if left == 0 {
                    return Ok(CompactionProgress::WrittenTo((key.clone(), *id)));
                }
            }
        }
        connection
            .prepare_cached("UPDATE index_state SET indexed = ?1")?
            .execute([row::number(self.covers)])?;
        Ok(CompactionProgress::Finished)
    }

    /// Returns the keys that are not yet on disk, each with its ids that are not.
    fn entries_left(&self) -> impl Iterator<Item = (&IndexKey, &[u64])> {
        let from = match &self.after {
            Some((key, _)) => Bound::Included(&**key),
            None => Bound::Unbounded,
        };
        let lists = self
            .memtable
            .lists
            .range::<[u8], _>((from, Bound::Unbounded));
        lists.map(|(key, ids)| {
            let ids = ids.as_slice();
            let written = match &self.after {
                Some((last_key, last_id)) if last_key == key => {
                    ids.partition_point(|id| id <= last_id)
                }
                Some(_) | None => 0,
            };
            (key, ids.get(written..).unwrap_or_default())
        })
    }

    /// Continues after a durable step. Returns whether the compaction is finished.
    pub(crate) fn step_committed(&mut self, step: CompactionProgress) -> bool {
        match step {
            CompactionProgress::Idle => false,
            CompactionProgress::WrittenTo(entry) => {
                self.after = Some(entry);
                false
            }
            CompactionProgress::Finished => {
                *self = Self::default();
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries_on_disk(connection: &Connection) -> Vec<(Vec<u8>, i64)> {
        let mut statement = connection
            .prepare("SELECT key, event_id FROM event_index ORDER BY key, event_id")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_step_keeps_its_budget_within_a_frequent_key() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE event_index (key BLOB, event_id INTEGER, PRIMARY KEY (key, event_id)) WITHOUT ROWID;
                 CREATE TABLE index_state (indexed INTEGER);
                 INSERT INTO index_state VALUES (0);",
            )
            .unwrap();
        let mut memtable = Memtable::default();
        let mut expected = Vec::new();
        for id in 0..1_000_i64 {
            let own = [b"/books/".as_slice(), &id.to_be_bytes()].concat();
            for key in [b"frequent".to_vec(), own] {
                memtable.insert(key.clone().into_boxed_slice(), id.unsigned_abs());
                expected.push((key, id));
            }
        }
        expected.sort();
        let mut compaction = MemtableCompaction::new(Arc::new(memtable), 1_000);
        for step in 1.. {
            let progress = compaction.write_entries(&connection, 7).unwrap();
            let written = entries_on_disk(&connection);
            assert_eq!(written, expected[..expected.len().min(7 * step)]);
            if compaction.step_committed(progress) {
                break;
            }
        }
        assert_eq!(entries_on_disk(&connection), expected);
        let indexed: i64 = connection
            .query_row("SELECT indexed FROM index_state", [], |row| row.get(0))
            .unwrap();
        assert_eq!(indexed, 1_000);
    }
}
