//! The pipeline from an event to the read models: subscribe, decode and upcast, fold a batch in memory,
//! write rows and checkpoint in one transaction, publish the position.

use std::{sync::Arc, time::SystemTime};

use async_trait::async_trait;

use super::{
    Database, DatabaseError, PoisonEvent, batch_computation::BatchComputation,
    batch_fold::BatchFold, database::subscriber_failure, erasures::KnownErasures,
    pipeline_read_model::PipelineReadModel,
};
use es_event::{RecordedEvent, Upcasters};
use es_store::EventLog;
use es_subscribe::{Interruption, Subscriber, SubscriberCheckpoint, SubscriberProgress};

/// Keeps the read models with the same position up to date.
#[derive(Debug)]
pub(super) struct ProjectionPipeline {
    pub(super) store: Arc<dyn EventLog>,
    pub(super) database: Database,
    pub(super) upcasters: Upcasters,
    pub(super) models: Vec<PipelineReadModel>,
    pub(super) erasures: KnownErasures,
}

/// The reason why a pipeline has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PipelineEnd {
    /// All read models of the pipeline have stopped at an event.
    AllStopped,
    /// Another process may write by now.
    LeaseLost,
    /// A table lacks columns, or is missing.
    TableDamaged,
    /// The event store lacks an event that a read model has applied, as after a failover that lost events.
    EventsLost,
    /// An erasure of personal data is announced, after which rows have to be rebuilt.
    ErasureAnnounced,
    /// A shadow table is up to date.
    ShadowBuilt,
}

/// A batch of events, folded for each read model of the pipeline.
pub(super) struct FoldedBatch {
    events: Vec<RecordedEvent>,
    /// The folds, in the order of the read models. Where one is missing, the read model had stopped.
    folds: Vec<Option<BatchFold>>,
}

#[async_trait]
impl Subscriber for ProjectionPipeline {
    type Batch = FoldedBatch;
    type End = PipelineEnd;

    const BATCH: usize = 2_000;

    fn running(&self) -> Vec<SubscriberProgress> {
        let running = self.running_models();
        running.map(|model| model.progress.clone()).collect()
    }

    async fn begin(&self) -> Result<(), Interruption<PipelineEnd>> {
        if let Some(end) = self.end() {
            return Err(Interruption::Ended(end));
        }
        if self.has_stored_checkpoints().await? {
            Ok(())
        } else {
            Err(Interruption::Ended(PipelineEnd::EventsLost))
        }
    }

    /// Folds the events while the batch before is written.
    fn prepare(&self, events: Vec<RecordedEvent>) -> FoldedBatch {
        let fold = |model: &PipelineReadModel| {
            (!model.is_halted()).then(|| model.prepare(&self.upcasters, &events))
        };
        let folds = self.models.iter().map(fold).collect();
        FoldedBatch { events, folds }
    }

    async fn handle(&self, batch: FoldedBatch) -> Result<(), Interruption<PipelineEnd>> {
        let applied = self.apply_batch(&batch.events, batch.folds).await;
        applied.map_err(|error| self.interruption(&error))?;
        if batch.events.iter().any(|event| self.erasures.is_new(event)) {
            return Err(Interruption::Ended(PipelineEnd::ErasureAnnounced));
        }
        Ok(())
    }

    /// Stops the read models at an event that cannot be read, except for those that skip it.
    async fn pass_unreadable(&self, poison: &PoisonEvent) -> Result<(), Interruption<PipelineEnd>> {
        for model in self.running_models() {
            if !model.skipped.contains(poison.id) && !model.skipped.excuse(poison) {
                model.halt(poison.clone().into());
            } else {
                // The next event moves the checkpoint. Without its hash, this one cannot.
                model.progress.record_position(Some(poison.id));
            }
        }
        Ok(())
    }

    fn end(&self) -> Option<PipelineEnd> {
        let is_built = self
            .models
            .iter()
            .any(PipelineReadModel::can_replace_current);
        if self.running_models().next().is_none() {
            Some(PipelineEnd::AllStopped)
        } else {
            is_built.then_some(PipelineEnd::ShadowBuilt)
        }
    }

    /// A transaction costs far more than a row.
    fn gathers_events(&self) -> bool {
        true
    }
}

impl ProjectionPipeline {
    /// Returns how a failure of the whole pipeline ends the subscription.
    fn interruption(&self, error: &DatabaseError) -> Interruption<PipelineEnd> {
        let end = match error {
            DatabaseError::Lost => PipelineEnd::LeaseLost,
            error if error.is_table_damage() => PipelineEnd::TableDamaged,
            error => return Interruption::Failed(subscriber_failure(error)),
        };
        for model in self.running_models() {
            model.progress.record_failure(subscriber_failure(error));
        }
        Interruption::Ended(end)
    }

    /// Returns true if the event store has the last event of each read model. The ids of lost events are
    /// given to other events, so a read model that only continues after its position misses these.
    async fn has_stored_checkpoints(&self) -> Result<bool, Interruption<PipelineEnd>> {
        for model in self.running_models() {
            let loaded = self.database.load_checkpoint(&model.table).await;
            let kept = loaded.map_err(|error| self.interruption(&error))?;
            if let Some(checkpoint) = kept.and_then(|kept| kept.checkpoint)
                && !checkpoint.is_in_event_store(&*self.store).await?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Applies events to each read model that has not applied them yet.
    pub(super) async fn apply_events(&self, events: &[RecordedEvent]) -> Result<(), DatabaseError> {
        self.apply_batch(events, Vec::new()).await
    }

    /// Applies events to each read model. The folds, in the order of the read models, contain the changes of
    /// exactly these events.
    async fn apply_batch(
        &self,
        events: &[RecordedEvent],
        folds: Vec<Option<BatchFold>>,
    ) -> Result<(), DatabaseError> {
        let folds = folds.into_iter().chain(std::iter::repeat_with(|| None));
        let models = self.models.iter().zip(folds);
        for (model, fold) in models.filter(|(model, _)| !model.is_halted()) {
            match self.apply_new_events(model, events, fold).await {
                Ok(None) => {}
                Ok(Some(poison)) => model.halt_at(poison),
                // The database refuses no single row, as with a constraint on several rows that somebody added.
                Err(error) if error.is_refusal() => model.halt(subscriber_failure(&error)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Applies those events to a read model that it has not applied yet. Returns the event that cannot be
    /// applied, if there is one.
    async fn apply_new_events(
        &self,
        model: &PipelineReadModel,
        events: &[RecordedEvent],
        fold: Option<BatchFold>,
    ) -> Result<Option<PoisonEvent>, DatabaseError> {
        let position = model.progress.position();
        let new = events.partition_point(|event| Some(event.id) <= position);
        let events = events.get(new..).unwrap_or_default();
        let begin = SystemTime::now();
        // The fold contains events that were applied meanwhile.
        let fold = fold.filter(|_| new == 0);
        let poison = self.write_and_publish(model, events, fold).await?;
        // A rebuild does not belong to the traces of old commands.
        if model.progress.position() > position && model.progress.has_caught_up() {
            model.record_trace(events, begin);
        }
        Ok(poison)
    }

    /// Folds events, writes the rows with the checkpoint in one transaction, and publishes the position. A row that
    /// cannot take an event is held, and so is one that the database refuses. Returns the event at which the read model
    /// has to stop because it holds too many rows, if there is one. The events before it are written.
    async fn write_and_publish(
        &self,
        model: &PipelineReadModel,
        events: &[RecordedEvent],
        fold: Option<BatchFold>,
    ) -> Result<Option<PoisonEvent>, DatabaseError> {
        let held = model.progress.held_keys();
        let mut batch = BatchComputation {
            database: &self.database,
            upcasters: &self.upcasters,
            model,
            events,
            prepared: fold.filter(|fold| fold.is_based_on(&held)),
            held,
            again: None,
            late: Vec::new(),
            excess: None,
        };
        loop {
            let changes = batch.compute().await?;
            let Some(to) = batch.events.last().map(SubscriberCheckpoint::from_event) else {
                return Ok(batch.excess);
            };
            let held = changes.held.clone();
            match self.database.write_batch(&model.table, changes, to).await {
                Err(refusal) if refusal.is_refusal() => {
                    // A batch that is written is not computed twice.
                    let refused = batch.compute().await?;
                    if !batch.hold_refused_rows(refused).await? {
                        return Err(refusal);
                    }
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    model.record_held_keys(&held);
                    model.progress.record_position(Some(to.event));
                    return Ok(batch.excess);
                }
            }
        }
    }

    /// Returns the read models that have not stopped.
    fn running_models(&self) -> impl Iterator<Item = &PipelineReadModel> {
        self.models.iter().filter(|model| !model.is_halted())
    }
}
