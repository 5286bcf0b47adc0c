//! The idle work of the writer: checking and compacting the index, and checkpointing the write-ahead log.

use std::time::Duration;

use super::{CommittedBatch, EventWriter};
use crate::{database_error::BatchFailure, recent::CommittedEvents};

/// The number of index entries that an idle writer compacts in one transaction.
const IDLE_BUDGET: usize = 2_048;
/// The pause between two steps of the index check, which then takes about a tenth of a processor.
const CHECK_PAUSE: Duration = Duration::from_millis(25);

impl EventWriter {
    /// Returns the time without tasks after which maintenance continues.
    pub(super) fn maintenance_pause(&self) -> Duration {
        if !self.compaction.is_idle() || !self.shared.log().index.is_bloom_filter_read() {
            Duration::ZERO
        } else if self.check.has_unchecked_events() {
            CHECK_PAUSE.min(self.settings.idle)
        } else {
            self.settings.idle
        }
    }

    /// Reads some subjects of the index on disk into the Bloom filter.
    pub(super) fn read_subjects_missing_in_bloom_filter(&self) {
        let step = self
            .shared
            .log()
            .index
            .read_subjects_missing_in_bloom_filter(&self.connection);
        if let Some(step) = step {
            self.shared
                .modify_log(|log| log.index.add_to_bloom_filter(step));
        }
    }

    /// Takes one step of maintenance: checks and compacts the index, then checkpoints the write-ahead log.
    pub(super) fn maintain(&mut self) {
        if let Err(failure) = self.maintain_step() {
            self.record_failure("the index was not checked or compacted", &failure);
        }
    }

    fn maintain_step(&mut self) -> Result<(), BatchFailure> {
        self.refresh()?;
        self.repair_index()?;
        self.flush_durable_end();
        self.read_subjects_missing_in_bloom_filter();
        self.check_index_step()?;
        if self.compaction.is_idle() {
            self.start_compaction();
        }
        if self.compaction.is_idle() {
            return self.checkpoint("PASSIVE");
        }
        self.compact(IDLE_BUDGET)
    }

    /// Writes the durable end of the store, and flushes it.
    pub(super) fn flush_durable_end(&mut self) {
        let schemas = self.shared.catalogue().schemas();
        self.end.record_end(&self.head, schemas, true);
    }

    fn start_compaction(&mut self) {
        self.compaction = self.shared.modify_log(|log| log.index.start_compaction());
    }

    fn compact(&mut self, budget: usize) -> Result<(), BatchFailure> {
        self.refresh()?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let step = self.compaction.write_entries(&self.connection, budget);
        let step = step.inspect_err(|_| self.roll_back())?;
        self.commit()?;
        self.publish(CommittedBatch {
            events: CommittedEvents::default(),
            keys: Vec::new(),
            types: Vec::new(),
            step,
        });
        Ok(())
    }

    fn checkpoint(&mut self, mode: &str) -> Result<(), BatchFailure> {
        if std::mem::take(&mut self.has_written) {
            let statement = format!("PRAGMA wal_checkpoint({mode})");
            self.connection.query_row(&statement, [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Compacts all of the index, so that the next start is fast. Nothing is lost if that fails.
    pub(super) fn compact_for_close(mut self) {
        let mut closing = Ok(());
        // The compaction that runs, then the entries that came meanwhile.
        for _ in 0..2 {
            if self.compaction.is_idle() {
                self.start_compaction();
            }
            closing = closing.and_then(|()| self.compact(usize::MAX));
        }
        if !self.is_stale {
            self.flush_durable_end();
        }
        self.has_written = true;
        if let Err(failure) = closing.and_then(|()| self.checkpoint("TRUNCATE")) {
            tracing::warn!(error = %failure.error, "the store was closed before its index was compacted");
        }
    }
}
