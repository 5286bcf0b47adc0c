//! The processor that keeps all read models up to date.

mod held_row_retry;
mod operator_commands;
mod skipped_events_of_table;
mod table_arrangement;

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use super::{
    Database, DatabaseError, ReadModels,
    database::{TableCheckpoint, subscriber_failure},
    erasures::KnownErasures,
    pipeline::{PipelineEnd, ProjectionPipeline},
};
use es_event::{InvalidSubjectValue, Upcasters};
use es_store::{EventLog, StoreError, newest_id};
use es_subscribe::{
    ProgressRegistry, SubscriberFailure, SubscriberProgress, TroubleCause, answer_request,
    back_off, follow,
    operator::{ComponentKind, OperatorClient, OperatorError, OperatorRequest, OperatorRequests},
};
use operator_commands::CommandedReadModel;

/// The interval in which a standby process reads the positions of the active process.
const STAND_BY: Duration = Duration::from_millis(50);
/// The time after which a read model that has stopped for another reason than an event tries again.
const RECHECK: Duration = Duration::from_secs(30);
/// The longest pause before the processor begins again.
const LAST_PAUSE: Duration = Duration::from_secs(5);
/// The most events of one batch while a table catches up before its swap, or while held rows are retried.
const CATCH_UP_BATCH: usize = 2_000;
/// The source of the framework's own events, unless the application has one.
const SOURCE: &str = "es-framework";

/// The reason why the processor cannot begin.
#[derive(Debug, thiserror::Error)]
enum ProcessorStartError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a read model cannot have this name: {0}")]
    Name(#[from] InvalidSubjectValue),
    #[error("the table of a read model is damaged")]
    TableDamaged,
}

impl ProcessorStartError {
    fn to_failure(&self) -> SubscriberFailure {
        match self {
            Self::Database(error) => subscriber_failure(error),
            Self::Store(error) => SubscriberFailure::of_event_store(error),
            Self::Name(_) => SubscriberFailure::new(TroubleCause::Database, false, self),
            Self::TableDamaged => SubscriberFailure::new(TroubleCause::Rows, true, self),
        }
    }
}

/// Keeps the read models up to date while it runs.
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use es_framework::{
///     prelude::*,
///     projection::{Database, Processor, ReadModelDescriptor, ReadModels},
///     store::memory::MemoryStore,
/// };
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let models = ReadModels::new([ReadModelDescriptor::of::<BookCopy>()])?;
/// let database = Database::in_memory(&models).await?;
/// let processor = Processor::new(Arc::new(MemoryStore::new()), database, models);
/// let positions = processor.progress();
/// let running = tokio::spawn(processor.run());
/// positions.wait_until_reached(&["book_copies"], None, Duration::from_secs(10)).await?;
/// # running.abort();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Processor {
    store: Arc<dyn EventLog>,
    source: Arc<str>,
    database: Database,
    models: ReadModels,
    upcasters: Upcasters,
    positions: ProgressRegistry,
    operator: OperatorClient,
    requests: OperatorRequests,
    /// True if this process has retried the rows that earlier processes held.
    has_retried: bool,
    erasures: KnownErasures,
}

impl Processor {
    /// Creates a processor that does not run yet.
    #[must_use]
    pub fn new(store: Arc<dyn EventLog>, database: Database, models: ReadModels) -> Self {
        const KIND: ComponentKind = ComponentKind::ReadModel;
        let names = || models.iter().map(|table| table.model.name);
        let positions = ProgressRegistry::new(KIND, names());
        let (operator, requests) = OperatorClient::with_shared_queue(KIND, names());
        Self {
            store,
            source: SOURCE.into(),
            database,
            models,
            upcasters: Upcasters::default(),
            positions,
            operator,
            requests,
            has_retried: false,
            erasures: KnownErasures::Ignored,
        }
    }

    /// Reads stored events through these upcasters.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        Self { upcasters, ..self }
    }

    /// Records the choices of operators as events with this source.
    #[must_use]
    pub fn with_source(self, source: Arc<str>) -> Self {
        Self { source, ..self }
    }

    /// Rebuilds the read models that take such events after each erasure of personal data.
    #[doc(hidden)]
    #[must_use]
    pub fn with_personal_events(self, is_personal: impl Fn(&str) -> bool) -> Self {
        let models = self.models.with_personal_events(is_personal);
        Self { models, ..self }
    }

    /// Returns the progress of the read models that may hold personal data.
    #[doc(hidden)]
    pub fn personal_read_models(&self) -> impl Iterator<Item = SubscriberProgress> {
        let tables = self.models.personal_tables();
        let progress = tables.map(|table| self.positions.find_progress(table.model.name));
        progress.flatten().cloned()
    }

    /// Returns the progress of the read models.
    #[must_use]
    pub fn progress(&self) -> ProgressRegistry {
        self.positions.clone()
    }

    /// Returns the client that sends the commands of operators to the read models.
    #[must_use]
    pub fn operator_client(&self) -> OperatorClient {
        self.operator.clone()
    }

    /// Runs until the returned future is dropped. After a failure it restarts from the checkpoints. While
    /// another process writes to the same database, it stands by, and it takes over when that process
    /// ends. Without read models it only waits.
    pub fn run(self) -> BoxFuture<'static, ()> {
        Box::pin(self.follow_events())
    }

    async fn follow_events(mut self) {
        if self.models.iter().next().is_none() {
            std::future::pending::<()>().await;
        }
        let mut pauses = back_off(LAST_PAUSE);
        loop {
            let followed = match self.begin().await {
                Ok(pipelines) => self.follow(&pipelines).await,
                Err(error) => Err(error),
            };
            match followed {
                Ok(()) => pauses = back_off(LAST_PAUSE),
                Err(error) => {
                    tracing::warn!(%error, "the read models cannot be followed yet");
                    for progress in self.positions.iter() {
                        progress.record_failure(error.to_failure());
                    }
                    tokio::select! {
                        () = tokio::time::sleep(pauses.next().unwrap_or(LAST_PAUSE)) => {}
                        Some(request) = self.requests.recv() => self.answer(request).await,
                    }
                }
            }
        }
    }

    /// Waits until this process may write, and returns the pipelines to run.
    async fn begin(&mut self) -> Result<Vec<ProjectionPipeline>, ProcessorStartError> {
        if !self.database.try_become_writer().await? {
            tracing::info!("another process keeps the read models up to date; this one stands by");
            self.stand_by().await?;
            tracing::info!("this process keeps the read models up to date from now on");
        }
        let pipelines = self.prepare_pipelines().await?;
        if std::mem::replace(&mut self.has_retried, true) || !self.retry_all_held_rows().await {
            return Ok(pipelines);
        }
        // Another release may have released rows.
        self.prepare_pipelines().await
    }

    /// Publishes the positions of the active process until that process ends.
    async fn stand_by(&mut self) -> Result<(), ProcessorStartError> {
        let newest = newest_id(&*self.store).await?;
        loop {
            for table in self.models.iter() {
                let kept = self.database.load_checkpoint(table).await?;
                let erasure = kept.as_ref().and_then(TableCheckpoint::erasure);
                // The active process may be a release with another definition.
                let usable = kept.filter(|kept| kept.is_readable(table));
                let checkpoint = usable.and_then(|kept| kept.checkpoint);
                let position = checkpoint.map(|checkpoint| checkpoint.event);
                if let Some(progress) = self.positions.find_progress(table.model.name) {
                    let held = self.database.load_held_keys(table).await?;
                    progress.record_held_keys(held);
                    progress.record_erasure(erasure);
                    progress.record_position(position);
                    progress.record_success();
                    if position.is_none() && newest.is_some() {
                        progress.record_rebuild_start();
                    } else if position >= newest {
                        progress.record_catch_up();
                    }
                }
            }
            while let Ok(request) = self.requests.try_recv() {
                request.send_result(Err(OperatorError::StandsBy));
            }
            if self.database.try_become_writer().await? {
                return Ok(());
            }
            tokio::time::sleep(STAND_BY).await;
        }
    }

    /// Runs the pipelines until they have to be arranged anew: a shadow table is built, an operator
    /// requests something, or another process may write.
    async fn follow(
        &mut self,
        pipelines: &[ProjectionPipeline],
    ) -> Result<(), ProcessorStartError> {
        let stop = CancellationToken::new();
        let run = |pipeline| follow(pipeline, &*self.store, &stop);
        let mut running: FuturesUnordered<_> = pipelines.iter().map(run).collect();
        let mut request = None;
        let mut is_damaged = false;
        loop {
            tokio::select! {
                biased;
                Some(end) = running.next() => if end != Some(PipelineEnd::AllStopped) {
                    is_damaged = end == Some(PipelineEnd::TableDamaged);
                    break;
                },
                received = self.requests.recv() => {
                    request = received;
                    break;
                }
                () = self.database.damage_reported() => if self.record_damaged_tables().await {
                    is_damaged = true;
                    break;
                },
                () = tokio::time::sleep(RECHECK) => {
                    if self.has_stopped_without_event()
                        || running.is_empty() && self.has_missed_erasure().await
                    {
                        break;
                    }
                }
            }
        }
        // Each pipeline finishes the batch that it is writing.
        stop.cancel();
        while running.next().await.is_some() {}
        drop(running);
        if let Some(request) = request {
            self.answer(request).await;
        }
        if is_damaged {
            self.record_damaged_tables().await;
            return Err(ProcessorStartError::TableDamaged);
        }
        self.swap_rebuilt_tables().await
    }

    /// Lets queries wait for the rebuild of the tables that are damaged or have lost their checkpoints, before empty
    /// ones are created. Returns true if there are some.
    async fn record_damaged_tables(&self) -> bool {
        let mut is_any_damaged = false;
        for table in self.models.iter() {
            let is_damaged = matches!(self.database.is_table_whole(table).await, Ok(false))
                || matches!(self.database.load_checkpoint(table).await, Ok(None));
            if is_damaged && let Some(progress) = self.positions.find_progress(table.model.name) {
                progress.record_rebuild_start();
            }
            is_any_damaged |= is_damaged;
        }
        is_any_damaged
    }

    /// Returns true if a read model has stopped for a reason that may be removed without a command.
    fn has_stopped_without_event(&self) -> bool {
        let progress = self
            .positions
            .iter()
            .flat_map(|progress| [Some(progress.clone()), progress.shadow_progress()]);
        let mut states = progress.flatten().map(|progress| progress.state());
        states.any(|state| state.is_stopped() && !state.is_stopped_at_event())
    }

    /// Returns true if an erasure is announced that no pipeline has read, because all read models have stopped.
    async fn has_missed_erasure(&self) -> bool {
        match self.erasures {
            KnownErasures::Ignored => false,
            KnownErasures::UpTo(_) => {
                let announced = KnownErasures::load(&*self.store).await;
                announced.is_ok_and(|announced| announced.last() != self.erasures.last())
            }
        }
    }

    /// Executes a command of an operator.
    async fn answer(&self, request: OperatorRequest) {
        let table = self.models.find_table(request.component);
        let progress = self.positions.find_progress(request.component);
        if let (Some(table), Some(progress)) = (table, progress) {
            let model = CommandedReadModel {
                processor: self,
                table,
                progress,
            };
            answer_request(&model, request).await;
        }
    }
}
