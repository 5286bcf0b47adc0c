//! What the writer does when nobody wants anything: merge the index, empty the log.

use super::{Writer, Written};
use crate::store::sqlite::{
    error::Failure,
    filter::{self, Learned},
    recent::Commit,
    row,
    types::{self, BLOCK},
};

/// How many index entries an idle writer merges in one transaction.
const IDLE_SLICE: usize = 2_048;

/// After how many events of a large file it is told how far the index by type has come.
const PROGRESS: u64 = BLOCK * 64;

impl Writer {
    /// Whether there is nothing to do unless somebody wants something.
    pub(super) fn is_settled(&self) -> bool {
        let tail = self.shared.tail();
        let has_learned = !matches!(tail.filter.learned(), Learned::To(_));
        self.merge.is_idle() && has_learned && tail.typed() == tail.indexed()
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
        if self.catch_up()? {
            return Ok(());
        }
        if self.merge.is_idle() {
            self.begin_merge();
        }
        if self.merge.is_idle() {
            return self.checkpoint("PASSIVE");
        }
        self.merge_slice(IDLE_SLICE)
    }

    /// Brings the index by type further, a block at a time, in a file that was written without one.
    /// `false` where nothing is left to do.
    fn catch_up(&mut self) -> Result<bool, Failure> {
        let (typed, indexed) = {
            let tail = self.shared.tail();
            (tail.typed(), tail.indexed())
        };
        if typed >= indexed {
            return Ok(false);
        }
        let block_end = (typed / BLOCK).saturating_add(1).saturating_mul(BLOCK);
        let end = block_end.min(indexed);
        let catalogue = self.shared.catalogue();
        let type_of = |name: &str| Some(catalogue.first(&name.parse().ok()?)?.get());
        let types = types::read_back(&self.connection, typed, end, type_of)?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let written = types::write(&self.connection, &types).and_then(|()| {
            let mut statement = self
                .connection
                .prepare_cached("UPDATE index_state SET typed = ?1")?;
            statement.execute([row::number(end)])
        });
        written.inspect_err(|_| self.roll_back())?;
        self.commit()?;
        self.shared.change(|tail| tail.has_typed(end));
        if end == indexed || end % PROGRESS == 0 {
            tracing::info!("indexed {end} of {indexed} older events by their types");
        }
        Ok(true)
    }

    fn begin_merge(&mut self) {
        self.merge = self.shared.change(|tail| {
            tail.begin_merge();
            tail.merging()
        });
    }

    fn merge_slice(&mut self, budget: usize) -> Result<(), Failure> {
        self.refresh()?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let slice = self.merge.write_slice(&self.connection, budget);
        let slice = slice.inspect_err(|_| self.roll_back())?;
        self.commit()?;
        self.publish(Written {
            first: 0,
            events: Commit::default(),
            entries: Vec::new(),
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
