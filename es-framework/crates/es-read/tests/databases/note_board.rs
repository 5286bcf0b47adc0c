//! A read model of notes in one database, and the events that it follows.

use std::ops::Deref;

use es_framework::{
    command::Services,
    event::{Event, EventId},
    operator::OperatorCommand,
    prelude::*,
    projection::Database,
    query::{QueryDescriptor, QueryParameters},
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    postgres_server::PostgresServer,
    running_read_model::{RunningReadModel, run_query},
};

#[derive(Debug, Clone, Event)]
pub(crate) struct NoteWrittenEvent {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) sum: f64,
    pub(crate) count: u32,
    pub(crate) debts: Vec<String>,
    #[serde(default)]
    pub(crate) pages: i64,
}

#[derive(Debug, Clone, Event)]
pub(crate) struct NoteErasedEvent {
    pub(crate) name: String,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "notes")]
pub(crate) struct Note {
    #[key]
    pub(crate) name: String,
    #[index]
    pub(crate) text: String,
    mean: f64,
    pub(crate) debts: Vec<u128>,
    pub(crate) pages: i64,
}

#[projection]
impl Note {
    #[key(name)]
    fn written(event: &NoteWrittenEvent) -> Self {
        let debts = event.debts.iter();
        Self {
            name: event.name.clone(),
            text: event.text.clone(),
            mean: event.sum / f64::from(event.count),
            debts: debts.map(|debt| debt.parse().unwrap()).collect(),
            pages: event.pages,
        }
    }

    #[key(name)]
    fn erased(self, _: &NoteErasedEvent) -> Option<Self> {
        None
    }
}

/// Lists the notes by their texts.
#[derive(Query)]
#[query(path = "/notes", rows = Note, order = text)]
pub(crate) struct BrowseNotes {}

/// Lists the notes by their texts, the last text first.
#[derive(Query)]
#[query(path = "/notes/backwards", rows = Note, order = descending(text))]
pub(crate) struct BrowseBackwards {}

/// Lists the notes by their numbers of pages.
#[derive(Query)]
#[query(path = "/notes/by-pages", rows = Note, order = pages)]
pub(crate) struct BrowseByPages {}

/// Lists the texts with the number of their notes.
#[derive(Query)]
#[query(path = "/texts", paged)]
pub(crate) struct BrowseTexts {}

impl QueryHandler for BrowseTexts {
    type Output = Page<(String, u64)>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let groups = context.rows::<Note>().group_by([Note::text()]);
        let page = groups.page((), context.paging()).await?;
        Ok(page.map(|group| {
            let [text] = group.key;
            (text, group.count)
        }))
    }
}

impl NoteWrittenEvent {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            sum: 1.0,
            count: 2,
            debts: Vec::new(),
            pages: 0,
        }
    }
}

/// The notes in one database.
pub(crate) struct NoteBoard(RunningReadModel);

impl Deref for NoteBoard {
    type Target = RunningReadModel;

    fn deref(&self) -> &RunningReadModel {
        &self.0
    }
}

impl NoteBoard {
    /// Starts a board in SQLite, and one in PostgreSQL if it is installed.
    #[track_caller]
    pub(crate) fn locations() -> impl Iterator<Item = Option<PostgresServer>> {
        [None].into_iter().chain(PostgresServer::start().map(Some))
    }

    /// Follows new events in SQLite, or in a server.
    pub(crate) async fn start(server: Option<PostgresServer>) -> Self {
        let queries = [
            QueryDescriptor::of::<BrowseNotes>(),
            QueryDescriptor::of::<BrowseTexts>(),
            QueryDescriptor::of::<BrowseByPages>(),
        ];
        Self(RunningReadModel::start::<Note>(&queries, server).await)
    }

    /// Opens the same database with a new processor.
    pub(crate) async fn restart(self) -> Self {
        Self(self.0.restart().await)
    }

    pub(crate) async fn append<E: Event>(&self, events: &[E]) -> EventId {
        self.0.append("/notes", events).await
    }

    /// Appends events with this data, as another application may have written it.
    pub(crate) async fn append_data<E: Event>(
        &self,
        data: impl Iterator<Item = Box<RawValue>>,
    ) -> EventId {
        self.0.append_data::<E>("/notes", data).await
    }

    /// Appends events and waits for their rows.
    pub(crate) async fn append_and_wait<E: Event>(&self, events: &[E]) {
        let last = self.append(events).await;
        self.await_position(last).await;
    }

    /// Executes a command of an operator.
    pub(crate) async fn operate(&self, command: OperatorCommand) {
        let done = self.0.operate(command).await;
        assert!(done.event.is_some() || done.retried > 0);
    }

    /// Runs a query that has no parameters.
    pub(crate) async fn run_query<Q: QueryHandler>(&self) -> Result<Box<RawValue>, QueryError> {
        run_query::<Q>(&self.database, &[]).await
    }

    /// Reads all pages of a query, each of which has `limit` items.
    pub(crate) async fn read_pages<Q: QueryHandler, T: DeserializeOwned>(
        &self,
        limit: usize,
    ) -> Vec<T> {
        read_pages::<Q, T>(&self.database, limit).await
    }
}

/// Reads all pages of a query, each of which has `limit` items.
pub(crate) async fn read_pages<Q: QueryHandler, T: DeserializeOwned>(
    database: &Database,
    limit: usize,
) -> Vec<T> {
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let limit = ("limit".to_owned(), limit.to_string());
        let cursor_pair = cursor.map(|cursor| ("cursor".to_owned(), cursor));
        let pairs = [limit].into_iter().chain(cursor_pair);
        let parameters = QueryParameters::new(pairs).unwrap();
        let query = (QueryDescriptor::of::<Q>().parse)(parameters, &Caller::Anyone).unwrap();
        let output = query(database, &Services::default()).await.unwrap();
        let mut page: serde_json::Value = serde_json::from_str(output.get()).unwrap();
        let part: Vec<T> = serde_json::from_value(page["items"].take()).unwrap();
        items.extend(part);
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return items,
        }
    }
}
