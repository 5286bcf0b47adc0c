//! A read model that follows an event store in memory, in one database.

use std::{sync::Arc, time::Duration};

use es_framework::{
    command::Services,
    event::{Event, EventCandidate, EventId, Metadata, encode},
    operator::{OperatorClient, OperatorCommand, OperatorOutcome},
    prelude::*,
    projection::{Database, DatabaseUrl, Processor, Project, ReadModelDescriptor, ReadModels},
    query::{PageParameters, QueryDescriptor, QueryParameters},
    store::{EventLog, memory::MemoryStore},
    subscribe::{ProgressRegistry, SubscriberProgress},
};
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use super::postgres_server::PostgresServer;

pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A read model in one database. The end of this ends its processor.
pub(crate) struct RunningReadModel {
    store: MemoryStore,
    models: ReadModels,
    pub(crate) database: Database,
    pub(crate) all_progress: ProgressRegistry,
    pub(crate) progress: SubscriberProgress,
    operator: OperatorClient,
    running: JoinHandle<()>,
    server: Option<PostgresServer>,
}

impl Drop for RunningReadModel {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl RunningReadModel {
    /// Starts the read model `R` with the indexes of these queries, in SQLite or in a server.
    pub(crate) async fn start<R: Project>(
        queries: &[QueryDescriptor],
        server: Option<PostgresServer>,
    ) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<R>()]).unwrap();
        let models = models.with_indexes_of(queries);
        Self::follow(MemoryStore::new(), models, server).await
    }

    async fn follow(
        store: MemoryStore,
        models: ReadModels,
        server: Option<PostgresServer>,
    ) -> Self {
        let url = match &server {
            None => DatabaseUrl::Memory,
            Some(server) => server.url().parse().unwrap(),
        };
        let database = Database::open(&url, &models).await.unwrap();
        let shared: Arc<dyn EventLog> = Arc::new(store.clone());
        let processor = Processor::new(shared, database.clone(), models.clone());
        let all_progress = processor.progress();
        let progress = all_progress.iter().next().unwrap().clone();
        let operator = processor.operator_client();
        Self {
            store,
            models,
            database,
            all_progress,
            progress,
            operator,
            running: tokio::spawn(processor.run()),
            server,
        }
    }

    /// Opens the same database with a new processor.
    pub(crate) async fn restart(mut self) -> Self {
        self.running.abort();
        let _ = (&mut self.running).await;
        let (store, models) = (self.store.clone(), self.models.clone());
        let server = self.server.take();
        drop(self);
        Self::follow(store, models, server).await
    }

    /// Appends events to a subject.
    pub(crate) async fn append<E: Event>(&self, subject: &str, events: &[E]) -> EventId {
        let encode = |event| encode(&Metadata::default(), event).unwrap();
        self.append_data::<E>(subject, events.iter().map(encode))
            .await
    }

    /// Appends events with this data, as another application may have written it.
    pub(crate) async fn append_data<E: Event>(
        &self,
        subject: &str,
        data: impl Iterator<Item = Box<RawValue>>,
    ) -> EventId {
        let candidates = data.map(|data| EventCandidate {
            source: "tests".into(),
            subject: subject.parse().unwrap(),
            event_type: E::TYPE.parse().unwrap(),
            data,
            trace: None,
        });
        let recorded = self.store.append(candidates.collect(), vec![]).await;
        recorded.unwrap().last().unwrap().id
    }

    pub(crate) async fn await_position(&self, id: EventId) {
        let reached = self.progress.wait_until_reached(Some(id), PATIENCE).await;
        assert_eq!(reached, Ok(()), "{:?}", self.progress.state());
    }

    /// Executes a command of an operator.
    pub(crate) async fn operate(&self, command: OperatorCommand) -> OperatorOutcome {
        let sent = self.operator.send_command(self.progress.name(), command);
        sent.await.unwrap()
    }

    /// Runs statements in the server, and returns their rows as text.
    pub(crate) fn run_sql(&self, statements: &str) -> String {
        self.server.as_ref().unwrap().query(statements)
    }

    pub(crate) fn context(&self) -> QueryContext<'_> {
        QueryContext::new(&self.database, PageParameters::default(), Timestamp::now())
    }
}

/// Runs a query in a database.
pub(crate) async fn run_query<Q: QueryHandler>(
    database: &Database,
    parameters: &[(&str, &str)],
) -> Result<Box<RawValue>, QueryError> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let parameters = QueryParameters::new(parameters.iter().map(owned)).unwrap();
    let query = (QueryDescriptor::of::<Q>().parse)(parameters, &Caller::Anyone)?;
    query(database, &Services::default()).await
}
