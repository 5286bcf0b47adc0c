//! A read model that a pipeline keeps up to date.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use super::{Table, batch_fold::BatchFold};
use es_event::{RecordedEvent, Upcasters};
use es_observe::telemetry::traces;
use es_subscribe::{SkippedEvents, SubscriberFailure, SubscriberProgress};

/// A read model that a pipeline keeps up to date.
#[derive(Debug)]
pub(super) struct PipelineReadModel {
    pub(super) table: Table,
    pub(super) progress: SubscriberProgress,
    pub(super) skipped: SkippedEvents,
    /// True if the pipeline goes on without this read model.
    is_halted: AtomicBool,
}

impl PipelineReadModel {
    pub(super) fn new(table: Table, progress: SubscriberProgress, skipped: SkippedEvents) -> Self {
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

    /// Folds events into rows, in memory.
    pub(super) fn fold(&self, upcasters: &Upcasters, events: &[RecordedEvent]) -> BatchFold {
        let mut fold = BatchFold::new(&self.table);
        for event in events {
            fold.add_event(&self.skipped, upcasters, event);
        }
        fold
    }

    /// Adds a span to the traces of the commands whose events were applied.
    pub(super) fn record_trace(&self, events: &[RecordedEvent], begin: SystemTime) {
        let model = self.table.model;
        let own = |event: &&RecordedEvent| model.events.contains(&event.event_type.as_str());
        let span = format!("project {}", model.name);
        traces::record_handling(&span, events.iter().filter(own), begin);
    }
}
