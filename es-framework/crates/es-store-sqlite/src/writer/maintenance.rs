//! The idle work of the writer: verifying the log, compacting the index, and checkpointing the write-ahead log.

use std::time::Duration;

use super::{CommittedBatch, EventWriter};
use crate::{
    database_error::{BatchFailure, SqliteError},
    recent::CommittedEvents,
};

/// The number of index entries that an idle writer compacts in one transaction.
const IDLE_BUDGET: usize = 2_048;
/// The pause between two steps of the verification, which then takes about a tenth of a processor.
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

    /// Takes one step of maintenance: verifies the log and compacts the index, then checkpoints the write-ahead log.
    pub(super) fn maintain(&mut self) {
        if let Err(failure) = self.maintain_step() {
            self.record_failure("the store was not maintained", &failure);
        }
    }

    fn maintain_step(&mut self) -> Result<(), BatchFailure> {
        self.refresh()?;
        self.rebuild_if_requested()?;
        self.record_damage()?;
        self.read_subjects_missing_in_bloom_filter();
        self.verify_next();
        if self.shared.is_closed() {
            // The memtable lacks what is damaged. When that is restored, the next start indexes it.
            return Ok(());
        }
        if self.compaction.is_idle() {
            self.start_compaction();
        }
        if self.compaction.is_idle() {
            return self.checkpoint("PASSIVE");
        }
        self.compact(IDLE_BUDGET)
    }

    /// Makes the known damage durable.
    fn record_damage(&self) -> Result<(), SqliteError> {
        match self.shared.check_open(&self.connection) {
            Err(SqliteError::Closed(_)) => Ok(()),
            recorded => recorded,
        }
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

    /// Compacts all of the index, so that the next start is fast. Nothing is lost if that fails.
    pub(super) fn compact_for_close(mut self) {
        let mut closing = self.record_damage().map_err(BatchFailure::from);
        // The compaction that runs, then the entries that came meanwhile.
        let rounds = if self.shared.is_closed() { 0 } else { 2 };
        for _ in 0..rounds {
            if self.compaction.is_idle() {
                self.start_compaction();
            }
            closing = closing.and_then(|()| self.compact(usize::MAX));
        }
        self.has_written = true;
        if let Err(failure) = closing.and_then(|()| self.checkpoint("TRUNCATE")) {
            tracing::warn!(error = %failure.error, "the store was closed before its index was compacted");
        }
    }
}
