//! The processor that keeps all read models up to date.

mod table_arrangement;

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::sync::watch;

use super::{
    Database, DatabaseError, ProgressRegistry, ReadModels,
    pipeline::{PipelineEnd, ProjectionPipeline, RetryPause},
};
use es_event::Upcasters;
use es_runtime::operator::{
    ComponentKind, OperatorClient, OperatorCommand, OperatorError, OperatorRequest,
    OperatorRequests, OperatorResult,
};
use es_store::{EventStore, StoreError, newest_id};

/// The interval in which a standby process reads the positions of the active process.
const STAND_BY: Duration = Duration::from_millis(50);

/// The reason why the processor cannot begin.
#[derive(Debug, thiserror::Error)]
enum ProcessorStartError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Store(#[from] StoreError),
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
    store: Arc<dyn EventStore>,
    database: Database,
    models: ReadModels,
    upcasters: Upcasters,
    positions: ProgressRegistry,
    operator: OperatorClient,
    requests: OperatorRequests,
}

impl Processor {
    /// Creates a processor that does not run yet.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, database: Database, models: ReadModels) -> Self {
        let positions = ProgressRegistry::for_models(models.iter().map(|table| table.model.name));
        let names = models.iter().map(|table| table.model.name);
        let (operator, requests) =
            OperatorClient::with_shared_queue(ComponentKind::ReadModel, names);
        Self {
            store,
            database,
            models,
            upcasters: Upcasters::default(),
            positions,
            operator,
            requests,
        }
    }

    /// Reads stored events through these upcasters.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        Self { upcasters, ..self }
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
    pub async fn run(mut self) {
        if self.models.iter().next().is_none() {
            std::future::pending::<()>().await;
        }
        let mut pause = RetryPause::default();
        loop {
            let followed = match self.begin().await {
                Ok(pipelines) => self.follow(pipelines).await,
                Err(error) => Err(error),
            };
            match followed {
                Ok(()) => pause = RetryPause::default(),
                Err(error) => {
                    tracing::warn!(%error, "the read models cannot be followed yet");
                    pause.wait().await;
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
        self.prepare_pipelines().await
    }

    /// Publishes the positions of the active process until that process ends.
    async fn stand_by(&mut self) -> Result<(), ProcessorStartError> {
        let newest = newest_id(&*self.store).await?;
        loop {
            for table in self.models.iter() {
                let kept = self.database.load_checkpoint(table).await?;
                // The active process may be a release with another definition.
                let usable = kept.filter(|kept| kept.is_readable(table));
                let position = usable.and_then(|kept| kept.checkpoint);
                let position = position.map(|checkpoint| checkpoint.id);
                if let Some(progress) = self.positions.find_progress(table.model.name) {
                    progress.record_position(position);
                    if position >= newest {
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
        pipelines: Vec<ProjectionPipeline>,
    ) -> Result<(), ProcessorStartError> {
        let (end, is_over) = watch::channel(false);
        let run = |pipeline: ProjectionPipeline| pipeline.run(is_over.clone());
        let mut running: FuturesUnordered<_> = pipelines.into_iter().map(run).collect();
        let mut request = None;
        loop {
            tokio::select! {
                biased;
                Some(ended) = running.next() => if ended != PipelineEnd::AllStopped { break },
                received = self.requests.recv() => {
                    request = received;
                    break;
                }
            }
        }
        // Each pipeline finishes the batch that it is writing.
        end.send_replace(true);
        while running.next().await.is_some() {}
        if let Some(request) = request.filter(OperatorRequest::is_awaited) {
            let result = self.execute(&request).await;
            request.send_result(result);
        }
        self.swap_rebuilt_tables().await
    }

    /// Executes a command of an operator.
    async fn execute(&self, request: &OperatorRequest) -> OperatorResult {
        const KIND: ComponentKind = ComponentKind::ReadModel;
        let unknown = || OperatorError::Unknown(KIND, request.component.to_owned());
        let table = self
            .models
            .find_table(request.component)
            .ok_or_else(unknown)?;
        let name = table.model.name;
        let progress = self.positions.find_progress(name).ok_or_else(unknown)?;
        let failed = |error: DatabaseError| OperatorError::Failed(KIND, error.to_string());
        let shadow = progress.shadow_progress();
        if request.command == OperatorCommand::Rebuild {
            if shadow.is_some_and(|shadow| !shadow.is_stopped()) || !progress.has_caught_up() {
                return Err(OperatorError::Rebuilding(KIND, name));
            }
            let reset = self.database.reset_table(&table.shadow_table()).await;
            reset.map_err(failed)?;
            progress.set_shadow_progress(None);
            tracing::warn!(read_model = name, "an operator rebuilds the read model");
            return Ok(None);
        }
        let stopped = [Some(progress.clone()), shadow].into_iter().flatten();
        let mut stopped = stopped.filter_map(|progress| Some((progress.poison_event()?, progress)));
        let stopped = stopped.next().ok_or(OperatorError::NotStopped(KIND, name));
        let (refused, stopped) = stopped?;
        let (event, subject) = (refused.id, &refused.subject);
        if request.command == OperatorCommand::Skip {
            let skipped = self.database.skip_event(table, event).await;
            skipped.map_err(failed)?;
            tracing::warn!(read_model = name, %event, %subject, "an operator skips an event of the read model");
        } else {
            tracing::warn!(read_model = name, %event, %subject, "an operator retries an event of the read model");
        }
        stopped.record_resumption();
        Ok(Some(refused))
    }
}
