//! A read model that a pipeline keeps up to date.

use std::{collections::BTreeSet, time::SystemTime};

use super::{ReadModelProgress, Table};
use es_event::{EventId, RecordedEvent};
use es_runtime::telemetry::traces;

/// A read model that a pipeline keeps up to date.
#[derive(Debug)]
pub(super) struct RunningReadModel {
    pub(super) table: Table,
    pub(super) progress: ReadModelProgress,
    /// The events that an operator has skipped.
    pub(super) skipped: BTreeSet<EventId>,
}

impl RunningReadModel {
    /// Returns true if the table is a shadow table that can replace the current one.
    pub(super) fn can_replace_current(&self) -> bool {
        self.table.is_shadow && self.progress.has_caught_up()
    }

    /// Returns true if events are folded as soon as they are read. Appends have usually written the rows
    /// of an inline read model.
    pub(super) fn is_folded_on_read(&self) -> bool {
        let is_written_by_appends = self.table.model.inline && self.progress.has_caught_up();
        !self.progress.is_stopped() && !is_written_by_appends
    }

    /// Adds a span to the traces of the commands whose events were applied.
    pub(super) fn record_trace(&self, events: &[RecordedEvent], begin: SystemTime) {
        let model = self.table.model;
        let own = |event: &&RecordedEvent| model.events.contains(&event.event_type.as_str());
        let span = format!("project {}", model.name);
        traces::record_handling(&span, events.iter().filter(own), begin);
    }
}
