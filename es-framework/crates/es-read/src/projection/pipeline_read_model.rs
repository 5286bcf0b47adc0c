//! A read model that a pipeline keeps up to date.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use super::{ReadModelProgress, Table, skipped_events::SkippedEvents};
use es_event::RecordedEvent;
use es_runtime::{operator::SubscriberFailure, telemetry::traces};

/// A read model that a pipeline keeps up to date.
#[derive(Debug)]
pub(super) struct PipelineReadModel {
    pub(super) table: Table,
    pub(super) progress: ReadModelProgress,
    pub(super) skipped: SkippedEvents,
    /// True if the pipeline goes on without this read model.
    is_halted: AtomicBool,
}

impl PipelineReadModel {
    pub(super) fn new(table: Table, progress: ReadModelProgress, skipped: SkippedEvents) -> Self {
        Self {
            table,
            progress,
            skipped,
            is_halted: AtomicBool::new(false),
        }
    }

    /// Records a failure of this read model alone. The pipeline goes on without it.
    pub(super) fn halt(&self, failure: SubscriberFailure) {
        let event = failure.event.as_ref().map(|event| event.id.get());
        tracing::error!(
            read_model = self.table.model.name,
            event,
            error = failure.reason,
            "a read model stops; the others go on"
        );
        self.progress.record_failure(failure);
        self.is_halted.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_halted(&self) -> bool {
        self.is_halted.load(Ordering::Relaxed)
    }

    /// Returns true if the table is a shadow table that can replace the current one.
    pub(super) fn can_replace_current(&self) -> bool {
        self.table.is_shadow && self.progress.has_caught_up()
    }

    /// Returns true if events are folded as soon as they are read. Appends have usually written the rows
    /// of an inline read model.
    pub(super) fn is_folded_on_read(&self) -> bool {
        let is_written_by_appends = self.table.model.inline && self.progress.has_caught_up();
        !self.is_halted() && !is_written_by_appends
    }

    /// Adds a span to the traces of the commands whose events were applied.
    pub(super) fn record_trace(&self, events: &[RecordedEvent], begin: SystemTime) {
        let model = self.table.model;
        let own = |event: &&RecordedEvent| model.events.contains(&event.event_type.as_str());
        let span = format!("project {}", model.name);
        traces::record_handling(&span, events.iter().filter(own), begin);
    }
}
