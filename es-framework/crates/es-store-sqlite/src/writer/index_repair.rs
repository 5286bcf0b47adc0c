//! The writer compares the index of a large store with its events, and builds a damaged index again.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use super::EventWriter;
use crate::{
    database_error::SqliteError,
    index_check::{self, IndexComparison},
    store_settings::EngineSettings,
};

/// The time after which a step ends. A write waits for one step at most.
const STEP: Duration = Duration::from_millis(2);
/// The pause between two steps while the store writes without a pause.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// The progress of the comparison.
#[derive(Debug)]
pub(super) struct IndexCheck {
    /// The indexed events that are compared next.
    unchecked: Range<u64>,
    last_step: Instant,
    /// The time at which the last comparison of the whole index began.
    begun: Instant,
}

impl IndexCheck {
    /// Returns the comparison of a store that covers this number of events. A start has compared a small index.
    pub(super) fn after_start(covered: u64, settings: &EngineSettings) -> Self {
        let is_large = settings.checks_index && covered > settings.checked_at_start;
        let now = Instant::now();
        Self {
            unchecked: if is_large { 0..covered } else { 0..0 },
            last_step: now,
            begun: now,
        }
    }

    /// Returns whether the comparison is not finished.
    pub(super) fn has_unchecked_events(&self) -> bool {
        !self.unchecked.is_empty()
    }

    /// Begins anew if the time has come.
    fn begin_again(&mut self, covered: u64, settings: &EngineSettings) {
        let is_due = self.begun.elapsed() >= settings.check_interval;
        if settings.checks_index && is_due && self.unchecked.is_empty() {
            self.unchecked = 0..covered;
            self.begun = Instant::now();
        }
    }
}

impl EventWriter {
    /// Takes a step of the comparison although tasks may wait, if the last step was a while ago.
    pub(super) fn check_index_while_busy(&mut self) {
        if self.is_stale || self.check.last_step.elapsed() < BUSY_PAUSE {
            return;
        }
        if let Err(error) = self.check_index_step() {
            self.record_failure("the index was not checked", &error.into());
        }
    }

    /// Compares the index with the next events.
    pub(super) fn check_index_step(&mut self) -> Result<(), SqliteError> {
        let covered = self.shared.log().index.covered();
        self.check.begin_again(covered, &self.settings);
        self.check.last_step = Instant::now();
        if self.check.unchecked.is_empty() {
            return Ok(());
        }
        let unchecked = self.check.unchecked.clone();
        let event = match index_check::compare_index(&self.connection, unchecked, STEP)? {
            IndexComparison::CheckedTo(end) => {
                self.check.unchecked.start = end;
                return Ok(());
            }
            IndexComparison::Unindexed(event) => event,
        };
        tracing::error!(
            event,
            "the index was damaged on the disk: it lacks an event. The store builds the index again, and answers \
             nothing until then"
        );
        self.shared.set_index_damaged(true);
        self.repair_index()
    }

    /// Builds a damaged index again.
    pub(super) fn repair_index(&mut self) -> Result<(), SqliteError> {
        if !self.shared.is_index_damaged() {
            return Ok(());
        }
        index_check::clear_index(&self.connection).inspect_err(|_| self.roll_back())?;
        self.is_stale = true;
        self.refresh()?;
        self.check.unchecked = 0..0;
        self.shared.set_index_damaged(false);
        tracing::info!("the index is built again");
        Ok(())
    }
}
