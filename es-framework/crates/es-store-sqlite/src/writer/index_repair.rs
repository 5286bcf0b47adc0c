//! The idle writer compares the index of a large store with its events, and builds a damaged index again.

use std::ops::Range;

use super::EventWriter;
use crate::{database_error::SqliteError, index_check};

/// The number of events that one step compares. A write waits for one step at most, about 3 milliseconds.
const STEP: u64 = 256;

impl EventWriter {
    /// Compares the index with the next events that no step has compared since the start.
    pub(super) fn check_index_step(&mut self) -> Result<(), SqliteError> {
        let Range {
            start,
            end: covered,
        } = self.unchecked;
        if start >= covered {
            return Ok(());
        }
        let end = start.saturating_add(STEP).min(covered);
        let Some(event) = index_check::find_unindexed(&self.connection, start..end)? else {
            self.unchecked.start = end;
            return Ok(());
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
        self.unchecked = 0..0;
        self.shared.set_index_damaged(false);
        tracing::info!("the index is built again");
        Ok(())
    }
}
