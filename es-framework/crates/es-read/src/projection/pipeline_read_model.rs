//! A read model that a pipeline keeps up to date.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use super::{PoisonEvent, Table, batch_fold::BatchFold, row_holds::RowHolds};
use es_event::{RecordedEvent, Upcasters};
use es_observe::telemetry::traces;
use es_subscribe::{HeldKey, MAX_HELD_KEYS, SkippedEvents, SubscriberFailure, SubscriberProgress};

/// A read model that a pipeline keeps up to date.
#[derive(Debug)]
pub(super) struct PipelineReadModel {
    pub(super) table: Table,
    pub(super) progress: SubscriberProgress,
    pub(super) skipped: Arc<SkippedEvents>,
    /// True if the pipeline goes on without this read model.
    is_halted: AtomicBool,
}

impl PipelineReadModel {
    pub(super) fn new(table: Table, progress: SubscriberProgress, skipped: SkippedEvents) -> Self {
        Self {
            table,
            progress,
            skipped: Arc::new(skipped),
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

    /// Stops this read model at an event that it cannot take, because it cannot hold one more row.
    pub(super) fn halt_at(&self, poison: PoisonEvent) {
        let held = self.progress.held_keys().len();
        let mut failure = SubscriberFailure::from(poison);
        if held >= MAX_HELD_KEYS {
            failure.reason = format!(
                "it holds {held} rows, so the code is wrong rather than the events: {}",
                failure.reason
            );
        }
        self.halt(failure);
    }

    pub(super) fn is_halted(&self) -> bool {
        self.is_halted.load(Ordering::Relaxed)
    }

    /// Returns true if the table is a shadow table that can replace the current one.
    pub(super) fn can_replace_current(&self) -> bool {
        self.table.is_shadow && self.progress.has_caught_up()
    }

    /// Folds the events of a batch, in memory, if no row of it has failed yet.
    pub(super) fn prepare(&self, upcasters: &Upcasters, events: &[RecordedEvent]) -> BatchFold {
        let holds = RowHolds::new(self.progress.held_keys(), Arc::clone(&self.skipped), &[]);
        self.fold(upcasters, events, holds)
    }

    /// Folds events into the rows that the holds admit, in memory.
    pub(super) fn fold(
        &self,
        upcasters: &Upcasters,
        events: &[RecordedEvent],
        holds: RowHolds,
    ) -> BatchFold {
        let mut fold = BatchFold::new(&self.table, holds);
        for event in events {
            fold.add_event(upcasters, event);
        }
        fold
    }

    /// Publishes the keys that a written batch holds. The log names the events of the new ones; a key may be personal.
    pub(super) fn record_held_keys(&self, held: &[HeldKey]) {
        let before = self.progress.held_keys();
        for new in held.iter().filter(|one| before.find(&one.id).is_none()) {
            tracing::error!(
                read_model = self.table.model.name,
                event = new.poison.id.get(),
                error = %new.poison,
                "a read model holds a row; all others go on"
            );
        }
        self.progress
            .record_held_keys(before.with_changes(held, &[]));
    }

    /// Adds a span to the traces of the commands whose events were applied.
    pub(super) fn record_trace(&self, events: &[RecordedEvent], begin: SystemTime) {
        let model = self.table.model;
        let own = |event: &&RecordedEvent| model.events.contains(&event.event_type.as_str());
        let span = format!("project {}", model.name);
        traces::record_handling(&span, events.iter().filter(own), begin);
    }
}
