//! The writer verifies the log: the newest events before its first task, and all events each day. It builds the index again
//! when an operator asks for it.

use std::time::{Duration, Instant};

use super::EventWriter;
use crate::{
    database_error::SqliteError,
    event_check::{self, CheckPosition},
    startup,
    store_settings::EngineSettings,
};
use es_store::NEWEST;

/// The time after which a step ends. A write waits for one step at most.
const STEP: Duration = Duration::from_millis(2);
/// The pause between two steps while the store writes without a pause.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// The progress of the verification.
#[derive(Debug)]
pub(super) struct LogCheck {
    position: CheckPosition,
    last_step: Instant,
    /// The time at which the last verification began.
    begun: Instant,
}

impl LogCheck {
    /// Begins with the newest events of a log of this length.
    pub(super) fn of_newest(length: u64, settings: &EngineSettings) -> Self {
        let newest = if settings.verifies { NEWEST } else { 0 };
        let now = Instant::now();
        Self {
            position: CheckPosition::of_range(length.saturating_sub(newest)..length),
            last_step: now,
            begun: now,
        }
    }

    /// Returns whether the verification is not finished.
    pub(super) fn has_unchecked_events(&self) -> bool {
        !self.position.left.is_empty()
    }
}

impl EventWriter {
    /// Verifies the newest events.
    pub(super) fn verify_newest(&mut self) {
        let length = self.shared.log().index.len();
        if let Err(error) = startup::check_coverage(&self.connection, length) {
            self.shared.note_damage(&error);
        }
        while self.check.has_unchecked_events() && self.verify_step(Duration::MAX) {}
    }

    /// Takes a step of the verification although tasks may wait, if the last step was a while ago.
    pub(super) fn verify_while_busy(&mut self) {
        if !self.is_stale && self.check.last_step.elapsed() >= BUSY_PAUSE {
            self.verify_next();
        }
    }

    /// Verifies the next events, and begins again after a day.
    pub(super) fn verify_next(&mut self) {
        let is_due = self.check.begun.elapsed() >= self.settings.check_interval;
        if self.settings.verifies && is_due && !self.check.has_unchecked_events() {
            self.check.begun = Instant::now();
            self.check.position = CheckPosition::of_range(0..self.shared.log().index.len());
        }
        self.check.last_step = Instant::now();
        self.verify_step(STEP);
    }

    /// Returns false if the events cannot be read.
    fn verify_step(&mut self, time: Duration) -> bool {
        let covered = self.shared.log().index.covered();
        let position = &mut self.check.position;
        let checked = event_check::check_events(&self.connection, position, covered, time);
        let Err(error) = checked else {
            return true;
        };
        self.shared.note_damage(&error);
        let is_damage = error.damage().is_some();
        if !is_damage {
            self.record_failure("the events were not verified", &error.into());
        }
        is_damage
    }

    /// Builds the index and the list of event types again if an operator asks for it.
    pub(super) fn rebuild_if_requested(&mut self) -> Result<(), SqliteError> {
        if self.shared.is_rebuild_requested() {
            event_check::clear_index(&self.connection).inspect_err(|_| self.roll_back())?;
            self.is_stale = true;
            self.refresh()?;
            self.shared.set_rebuild_requested(false);
        }
        Ok(())
    }
}
