//! What the writer does when nobody wants anything: merge the index, empty the log.

use super::{Writer, Written};
use crate::store::sql::embedded::{
    error::Failure,
    filter::{self, Learned},
    merge::Merge,
};

/// How many index entries an idle writer merges in one transaction.
const IDLE_SLICE: usize = 2_048;

impl Writer {
    /// Whether there is nothing to do unless somebody wants something.
    pub(super) fn is_settled(&self) -> bool {
        self.merge.is_idle() && !matches!(self.shared.tail().filter.learned(), Learned::To(_))
    }

    /// Reads some more of the index on disk into the filter. Opening does not wait for all of it.
    pub(super) fn learn(&self) {
        let learned = self.shared.tail().filter.learned().clone();
        if let Learned::To(after) = learned {
            let slice = filter::slice(&self.connection, after);
            self.shared.change(|tail| tail.filter.learn(slice));
        }
    }

    /// Merges the index, then brings the log into the database; a step at a time.
    pub(super) fn tidy(&mut self) {
        if let Err(failure) = self.tidy_a_step() {
            self.has_failed("the index was not merged", &failure);
        }
    }

    fn tidy_a_step(&mut self) -> Result<(), Failure> {
        self.refresh()?;
        self.learn();
        if self.merge.is_idle() {
            self.begin_merge();
        }
        if self.merge.is_idle() {
            return self.checkpoint("PASSIVE");
        }
        self.merge_slice(IDLE_SLICE)
    }

    fn begin_merge(&mut self) {
        self.merge = Merge::of(self.shared.change(|tail| {
            tail.begin_merge();
            tail.merging()
        }));
    }

    fn merge_slice(&mut self, budget: usize) -> Result<(), Failure> {
        self.refresh()?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let slice = self.merge.write_slice(&self.connection, budget);
        let slice = slice.inspect_err(|_| self.roll_back())?;
        self.commit()?;
        self.publish(Written {
            first: 0,
            subjects: Vec::new(),
            types: Vec::new(),
            slice,
        });
        Ok(())
    }

    fn checkpoint(&mut self, mode: &str) -> Result<(), Failure> {
        if std::mem::take(&mut self.has_written) {
            let statement = format!("PRAGMA wal_checkpoint({mode})");
            self.connection.query_row(&statement, [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Leaves a database that opens at once. Nothing is lost where that fails.
    pub(super) fn close(mut self) {
        let mut closing = Ok(());
        // What was being merged, then what came meanwhile.
        for _ in 0..2 {
            if self.merge.is_idle() {
                self.begin_merge();
            }
            closing = closing.and_then(|()| self.merge_slice(usize::MAX));
        }
        self.has_written = true;
        if let Err(failure) = closing.and_then(|()| self.checkpoint("TRUNCATE")) {
            tracing::warn!(error = %failure.error, "the store was closed without tidying up");
        }
    }
}
