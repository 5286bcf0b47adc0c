//! Stores in a database server of one test, and their events.

use std::sync::atomic::{AtomicU32, Ordering};

use es_event::{EventCandidate, Hash, RecordedEvent, Subject};
use es_store::{EventLog as _, ReadOptions};
use es_store_postgres::{PostgresStore, StoreAddress};
use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;

use crate::postgres_server::PostgresServer;

/// The stores of one server, each in a schema of its own.
pub(crate) struct StoreFixture {
    pub(crate) server: PostgresServer,
    schemas: AtomicU32,
}

impl StoreFixture {
    #[track_caller]
    pub(crate) fn start() -> Option<Self> {
        let server = PostgresServer::start()?;
        let schemas = AtomicU32::new(0);
        Some(Self { server, schemas })
    }

    /// Creates an empty schema.
    pub(crate) fn schema(&self) -> String {
        let name = format!("store_{}", self.schemas.fetch_add(1, Ordering::Relaxed));
        self.server.query(&format!("CREATE SCHEMA {name}"));
        name
    }

    pub(crate) fn url(&self, schema: &str, parameters: &str) -> String {
        let url = self.server.url();
        format!("{url}?options[search_path]={schema}{parameters}")
    }

    /// Opens the store of a schema.
    pub(crate) async fn open(&self, schema: &str, parameters: &str) -> PostgresStore {
        open(&self.url(schema, parameters)).await
    }
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    let address: StoreAddress = url.parse().unwrap();
    PostgresStore::open(address).await.unwrap()
}

pub(crate) fn candidate(subject: &str, number: usize) -> EventCandidate {
    EventCandidate {
        source: "tests".into(),
        subject: subject.parse().unwrap(),
        event_type: "io.example.Happened".parse().unwrap(),
        data: RawValue::from_string(format!("{{\"number\":{number}}}")).unwrap(),
        trace: None,
    }
}

pub(crate) async fn read_all(store: &PostgresStore) -> Vec<RecordedEvent> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    read.try_collect().await.unwrap()
}

pub(crate) fn assert_chain(events: &[RecordedEvent]) {
    let mut predecessor = Hash::ZERO;
    for (number, event) in (0..).zip(events) {
        assert_eq!(event.id.get(), number);
        assert_eq!(event.verify(predecessor), Ok(()));
        predecessor = event.hash;
    }
}
