//! Bringing the index on disk up to date, a run of adjacent subjects at a time: neighbours share
//! pages, so a sorted merge writes each page of the index once and not once an event.

use std::{ops::Bound, sync::Arc};

use rusqlite::Connection;

use super::{key::Key, row, tail::Entries, types};

/// Where a merge stands.
#[derive(Debug, Default)]
pub(super) struct Merge {
    entries: Arc<Entries>,
    /// How many events the index on disk covers before and afterwards.
    from: u64,
    to: u64,
    /// The last subject that is on disk.
    after: Option<Key>,
}

/// A slice that was written, in effect once its transaction is committed.
#[derive(Debug)]
pub(super) enum Slice {
    /// There was nothing to do.
    Nothing,
    /// All up to this subject.
    To(Key),
    /// All that was left, and the state that says so.
    Last,
}

impl Merge {
    pub(super) fn of(entries: Arc<Entries>, from: u64, to: u64) -> Self {
        let after = None;
        Self {
            entries,
            from,
            to,
            after,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.entries.subjects.is_empty()
    }

    /// Writes about `budget` entries. Doing it again changes nothing, so a slice whose transaction
    /// failed is simply written again.
    pub(super) fn write_slice(
        &self,
        connection: &Connection,
        budget: usize,
    ) -> rusqlite::Result<Slice> {
        if self.is_idle() || budget == 0 {
            return Ok(Slice::Nothing);
        }
        let after = match &self.after {
            Some(subject) => Bound::Excluded(&**subject),
            None => Bound::Unbounded,
        };
        let mut statement =
            connection.prepare_cached("INSERT OR IGNORE INTO subject_index VALUES (?1, ?2)")?;
        let mut written = 0_usize;
        let left = (after, Bound::Unbounded);
        for (subject, ids) in self.entries.subjects.range::<[u8], _>(left) {
            for id in ids.as_slice() {
                statement.execute((&**subject, row::number(*id)))?;
            }
            written = written.saturating_add(ids.as_slice().len());
            if written >= budget {
                return Ok(Slice::To(subject.clone()));
            }
        }
        self.write_types(connection)?;
        connection
            .prepare_cached("UPDATE index_state SET indexed = ?1")?
            .execute([row::number(self.to)])?;
        Ok(Slice::Last)
    }

    /// The part by type, at once with the state: adding to it twice would not be the same as once.
    /// Not where earlier events are missing from it; those and these are then caught up on.
    fn write_types(&self, connection: &Connection) -> rusqlite::Result<()> {
        let covered = connection
            .prepare_cached("UPDATE index_state SET typed = ?2 WHERE typed = ?1")?
            .execute([row::number(self.from), row::number(self.to)])?;
        if covered > 0 {
            types::write(connection, &self.entries.types)?;
        }
        Ok(())
    }

    /// Goes on behind a slice that is durable; `true` at the end.
    pub(super) fn wrote(&mut self, slice: Slice) -> bool {
        match slice {
            Slice::Nothing => false,
            Slice::To(subject) => {
                self.after = Some(subject);
                false
            }
            Slice::Last => {
                *self = Self::default();
                true
            }
        }
    }
}
