//! The pipeline from an event to the read models: subscribe, decode and upcast, fold a batch in memory,
//! write rows and checkpoint in one transaction, publish the position.

use std::{
    cmp::Ordering,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::watch;

use super::{
    Database, DatabaseError, PoisonEvent,
    batch_fold::BatchFold,
    batch_reader::{BatchReader, EventBatch},
    database::{Checkpoint, CheckpointStep},
    fold::FoldFailure,
    pipeline_error::PipelineError,
    pipeline_read_model::PipelineReadModel,
    rebuild_progress::RebuildProgress,
};
use es_event::{EventId, RecordedEvent, Upcasters};
use es_runtime::simulation::{self, Defect};
use es_store::{EventStore, ObserveOptions, newest_id_or_bound};

/// The batching window: the time in which events gather between two transactions. A transaction costs
/// far more than a row. Without the window, the transactions of a busy store took a third of the
/// machine. The pipeline reads during the window, because an event store behind a URL sends the next
/// event only after the last one was read.
const BATCHING_WINDOW: Duration = Duration::from_millis(15);
/// A subscription that lives this long was not refused.
const SUBSCRIBED_AFTER: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// Keeps the read models with the same position up to date.
#[derive(Debug)]
pub(super) struct ProjectionPipeline {
    pub(super) store: Arc<dyn EventStore>,
    pub(super) database: Database,
    pub(super) upcasters: Upcasters,
    pub(super) models: Vec<PipelineReadModel>,
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
    /// A shadow table is up to date.
    ShadowBuilt,
    /// The processor requested the end.
    Requested,
}

/// Requests the end of a pipeline between two batches. A pipeline that is dropped within a batch leaves
/// a write behind that nobody awaits.
pub(super) type EndRequest = watch::Receiver<bool>;

/// Completes when the end of the pipeline is requested.
async fn wait_until_requested(end: &mut EndRequest) {
    if end.wait_for(|is_requested| *is_requested).await.is_err() {
        // The processor is gone, so nobody can request the end.
        std::future::pending::<()>().await;
    }
}

impl ProjectionPipeline {
    /// Processes events until one of the reasons of [`PipelineEnd`] occurs. After a failure it subscribes
    /// again behind the checkpoint.
    pub(super) async fn run(self, mut end: EndRequest) -> PipelineEnd {
        let mut pause = RetryPause::default();
        // The last event of the subscription, which may be one that cannot be read and is skipped.
        let mut passed = None;
        while self.running().next().is_some() {
            let before = self.position();
            let error = match self.process_events(passed.max(before), &mut end).await {
                Ok(reason) => return reason,
                Err(error) => error,
            };
            if self.position() > before {
                pause = RetryPause::default();
            }
            let subscribed = passed.max(self.position());
            if let Some(unreadable) = error.unreadable_event(&*self.store, subscribed).await {
                passed = Some(unreadable.id);
                self.pass_unreadable_event(&unreadable);
                continue;
            }
            tracing::warn!(%error, "the read models do not follow the event store; they try again");
            for model in self.running() {
                model.progress.record_failure(error.to_failure());
            }
            match &error {
                PipelineError::Database(DatabaseError::Lost) => return PipelineEnd::LeaseLost,
                PipelineError::Database(error) if error.is_table_damage() => {
                    return PipelineEnd::TableDamaged;
                }
                _ => {}
            }
            tokio::select! {
                biased;
                () = wait_until_requested(&mut end) => return PipelineEnd::Requested,
                () = pause.wait() => {}
            }
        }
        PipelineEnd::AllStopped
    }

    /// Stops the read models at an event that cannot be read, except for those that skip it.
    fn pass_unreadable_event(&self, unreadable: &PoisonEvent) {
        for model in self.running() {
            let is_skipped =
                model.skipped.contains(unreadable.id) || model.skipped.excuse(unreadable);
            if !is_skipped {
                model.halt(unreadable.clone().into());
            } else if !self.database.appends_may_write(&model.table) {
                // The next event moves the checkpoint. Without its hash, this one cannot.
                model.progress.record_position(Some(unreadable.id));
            }
        }
    }

    /// Subscribes to the event store and applies batch after batch.
    async fn process_events(
        &self,
        passed: Option<EventId>,
        end: &mut EndRequest,
    ) -> Result<PipelineEnd, PipelineError> {
        if !self.has_stored_checkpoints().await? {
            return Ok(PipelineEnd::EventsLost);
        }
        let newest = newest_id_or_bound(&*self.store, passed).await?;
        let mut rebuild = RebuildProgress::new(newest, passed);
        rebuild.publish(passed, self.running());
        let options = ObserveOptions::recursive_after(passed);
        let events = self.store.observe(es_event::Subject::root(), options);
        let mut reader = BatchReader::new(&self.models, &self.upcasters, events);
        let mut is_subscribed = false;
        while !self
            .models
            .iter()
            .any(PipelineReadModel::can_replace_current)
        {
            if !rebuild.is_over() {
                // During a rebuild, a larger batch costs less.
                let full = reader.fill(rebuild.newest());
                let _ = tokio::time::timeout(BATCHING_WINDOW, full).await;
            }
            let batch = tokio::select! {
                biased;
                () = wait_until_requested(end) => return Ok(PipelineEnd::Requested),
                batch = reader.next_batch() => batch,
                () = tokio::time::sleep(SUBSCRIBED_AFTER), if !is_subscribed => {
                    is_subscribed = true;
                    self.running().for_each(|model| model.progress.record_success());
                    continue;
                }
            };
            let EventBatch {
                events,
                folds,
                failure,
                ..
            } = batch;
            let mut applying = std::pin::pin!(self.apply_batch(&events, folds));
            tokio::select! {
                biased;
                applied = &mut applying => applied?,
                // A rebuild reads and decodes the next batch during the write.
                () = reader.fill(rebuild.newest()), if !rebuild.is_over() => applying.await?,
            }
            rebuild.publish(self.position(), self.running());
            match failure {
                None => {}
                Some(Some(error)) => return Err(error.into()),
                Some(None) => return Err(PipelineError::SubscriptionEnded),
            }
            if self.running().next().is_none() {
                return Ok(PipelineEnd::AllStopped);
            }
            if rebuild.is_over() {
                let _ = tokio::time::timeout(BATCHING_WINDOW, reader.gather()).await;
            }
        }
        Ok(PipelineEnd::ShadowBuilt)
    }

    /// Returns true if the event store has the last event of each read model. The ids of lost events are
    /// given to other events, so a read model that only continues after its position misses these.
    async fn has_stored_checkpoints(&self) -> Result<bool, PipelineError> {
        for model in self.running() {
            let kept = self.database.load_checkpoint(&model.table).await?;
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

    /// Applies events to each read model. The folds, in the order of the read models, already contain
    /// the changes of these events.
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
                Ok(Some(poison)) => model.halt(poison.into()),
                Err(error @ DatabaseError::Row { .. }) => model.halt(error.to_failure()),
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
        mut fold: Option<BatchFold>,
    ) -> Result<Option<PoisonEvent>, DatabaseError> {
        loop {
            self.refresh_position(model).await?;
            let position = model.progress.visible_position();
            let new = events.partition_point(|event| Some(event.id) <= position);
            let events = events.get(new..).unwrap_or_default();
            let begin = SystemTime::now();
            let poison = match self.apply_to_model(model, events, fold.take()).await {
                Err(DatabaseError::AlreadyApplied) => continue,
                result => result?,
            };
            // A rebuild does not belong to the traces of old commands.
            if model.progress.visible_position() > position && model.progress.has_caught_up() {
                model.record_trace(events, begin);
            }
            return Ok(poison);
        }
    }

    /// Publishes the position of a table whose rows appends may have written.
    async fn refresh_position(&self, model: &PipelineReadModel) -> Result<(), DatabaseError> {
        if !self.database.appends_may_write(&model.table) {
            return Ok(());
        }
        let stored = self.database.load_checkpoint(&model.table).await?;
        // Only the process with the right to write replaces a table.
        let stored = stored.filter(|stored| stored.is_current(&model.table));
        let stored = stored.ok_or(DatabaseError::Lost)?.checkpoint;
        let position = stored.map(|checkpoint| checkpoint.id);
        match position.cmp(&model.progress.visible_position()) {
            Ordering::Less => Err(DatabaseError::Lost),
            Ordering::Equal => Ok(()),
            Ordering::Greater => {
                model.progress.record_position(position);
                Ok(())
            }
        }
    }

    /// Applies events to a read model: all at once, or one by one if the database refuses that, to name
    /// the event at fault. Returns the event that the read model cannot apply, if there is one.
    async fn apply_to_model(
        &self,
        model: &PipelineReadModel,
        events: &[RecordedEvent],
        fold: Option<BatchFold>,
    ) -> Result<Option<PoisonEvent>, DatabaseError> {
        let fold = fold.filter(|fold| fold.has_exactly(events));
        match self.write_and_publish(model, events, fold).await {
            Err(error) if error.is_refusal() => {}
            result => return result,
        }
        for event in events {
            let alone = std::slice::from_ref(event);
            let poison = match self.write_and_publish(model, alone, None).await {
                Err(error) if error.is_refusal() => {
                    let poison = PoisonEvent::new(event, error);
                    if model.skipped.excuse(&poison) {
                        self.write_and_publish(model, alone, None).await?
                    } else {
                        Some(poison)
                    }
                }
                result => result?,
            };
            if poison.is_some() {
                return Ok(poison);
            }
        }
        Ok(None)
    }

    /// Folds events, writes the rows with the checkpoint in one transaction, and publishes the position.
    /// Returns the event that the read model cannot apply, if there is one. The events before it are written.
    async fn write_and_publish(
        &self,
        model: &PipelineReadModel,
        events: &[RecordedEvent],
        fold: Option<BatchFold>,
    ) -> Result<Option<PoisonEvent>, DatabaseError> {
        let (mut events, mut fold) = (events, fold);
        let mut refused = None;
        loop {
            let folded = fold.take().unwrap_or_else(|| self.fold(model, events));
            let required = folded.required_keys();
            let required = self.database.load_rows(&model.table, required).await?;
            let (changes, poison) = folded.finish(&model.table, required)?;
            if let Some(FoldFailure { index, error }) = poison {
                let (before, from) = events.split_at_checked(index).unwrap_or((events, &[]));
                let poison = from.first().map(|event| PoisonEvent::new(event, error));
                if poison
                    .as_ref()
                    .is_some_and(|poison| model.skipped.excuse(poison))
                {
                    // The batch is folded again without the event.
                    continue;
                }
                refused = poison;
                events = before;
            }
            let Some(changes) = changes else { continue };
            if let Some(last) = events.last().map(Checkpoint::from_event) {
                let to = if simulation::has(Defect::CheckpointFirstEvent) {
                    events.first().map_or(last, Checkpoint::from_event)
                } else {
                    last
                };
                let from = model.progress.visible_position();
                let step = CheckpointStep { from, to };
                self.database
                    .write_batch(&model.table, changes, step)
                    .await?;
                model.progress.record_position(Some(last.id));
            }
            return Ok(refused);
        }
    }

    /// Folds events into the rows of one read model.
    fn fold(&self, model: &PipelineReadModel, events: &[RecordedEvent]) -> BatchFold {
        let mut fold = BatchFold::new(&model.table);
        for event in events {
            fold.add_event(&model.skipped, &self.upcasters, event);
        }
        fold
    }

    /// Returns the read models that have not stopped.
    fn running(&self) -> impl Iterator<Item = &PipelineReadModel> {
        self.models.iter().filter(|model| !model.is_halted())
    }

    /// Returns the last event that all running read models of the pipeline have applied.
    fn position(&self) -> Option<EventId> {
        self.running()
            .map(|model| model.progress.visible_position())
            .min()
            .flatten()
    }
}

/// The pause before a retry, which doubles from the first to the last.
#[derive(Debug)]
pub(super) struct RetryPause(Duration);

impl Default for RetryPause {
    fn default() -> Self {
        Self(FIRST_PAUSE)
    }
}

impl RetryPause {
    /// Waits, and doubles the next pause.
    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = self.0.saturating_mul(2).min(LAST_PAUSE);
    }
}
