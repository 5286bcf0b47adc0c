//! Bringing the index on disk up to date, a run of adjacent subjects at a time: neighbours share
//! pages, so a sorted merge writes each page of the index once and not once an event.

use std::{ops::Bound, sync::Arc};

use rusqlite::Connection;

use super::{key::Key, row, tail::Subjects};

/// Where a merge stands.
#[derive(Debug, Default)]
pub(super) struct Merge {
    subjects: Arc<Subjects>,
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
    pub(super) fn of((subjects, to): (Arc<Subjects>, u64)) -> Self {
        let after = None;
        Self {
            subjects,
            to,
            after,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.subjects.is_empty()
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
        for (subject, ids) in self.subjects.range::<[u8], _>((after, Bound::Unbounded)) {
            for id in ids.as_slice() {
                statement.execute((&**subject, row::number(*id)))?;
            }
            written = written.saturating_add(ids.as_slice().len());
            if written >= budget {
                return Ok(Slice::To(subject.clone()));
            }
        }
        connection
            .prepare_cached("UPDATE index_state SET indexed = ?1")?
            .execute([row::number(self.to)])?;
        Ok(Slice::Last)
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
