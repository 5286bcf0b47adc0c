//! Tests of the client against `es-server`, with the contract suite, and against faulty servers.

mod catalogue;
mod detection;
mod hostile;
mod reconnect;
mod settings;
mod test_server;
mod version_1_front;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{ClientSettings, EventSourcingDbStore, ReconnectPolicy};
use es_event::{Dialect, EventCandidate, EventType, HashVersion, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog, EventSchema, EventStore, EventStream, EventTypeStream, KnownEventType,
    ObserveOptions, Precondition, ReadOptions, RegisterError, StoreCatalog, StoreError,
    SubjectStream, contract, memory::MemoryStore,
};
use test_server::{TOKEN, TestServer};

/// A client and its server.
#[derive(Debug)]
struct ClientWithServer {
    client: EventSourcingDbStore,
    server: TestServer,
}

impl ClientWithServer {
    /// A client that uses version 2.
    async fn start(dialect: Dialect) -> Self {
        let server = TestServer::start(dialect).await;
        let client = client(&server.url(), TOKEN);
        Self { client, server }
    }

    /// A client that uses version 1.
    async fn start_version_1(dialect: Dialect) -> Self {
        let server = TestServer::start(dialect).await;
        let front = server.version_1_front().await;
        let client = client(&front.url, TOKEN);
        Self { client, server }
    }
}

#[async_trait]
impl EventLog for ClientWithServer {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.client.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.client.read(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.client.observe(subject, options)
    }
}

#[async_trait]
impl StoreCatalog for ClientWithServer {
    fn read_subjects(&self, base: Subject) -> SubjectStream {
        self.client.read_subjects(base)
    }

    fn read_event_types(&self) -> EventTypeStream {
        self.client.read_event_types()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        self.client.read_event_type(event_type).await
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        self.client.register_event_schema(event_type, schema).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.client.health().await
    }

    fn description(&self) -> String {
        self.client.description()
    }
}

fn client(url: &str, token: &str) -> EventSourcingDbStore {
    EventSourcingDbStore::new(ClientSettings::new(url, token)).unwrap()
}

fn candidate(subject: &str, data: &str) -> EventCandidate {
    EventCandidate {
        source: "tag:test".into(),
        subject: subject.parse().unwrap(),
        event_type: "io.example.test".parse().unwrap(),
        data: RawValue::from_string(data.to_owned()).unwrap(),
        trace: None,
    }
}

#[tokio::test]
async fn a_conflict_names_the_precondition_that_does_not_hold() {
    let store = ClientWithServer::start(Dialect::Event).await;
    let pristine = |subject: &str| Precondition::SubjectIsPristine(subject.parse().unwrap());
    let populated = |subject: &str| Precondition::SubtreeIsPopulated(subject.parse().unwrap());
    for (preconditions, violated) in [
        (vec![populated("/b")], 0),
        (vec![pristine("/a"), pristine("/b"), populated("/c")], 2),
    ] {
        let event = vec![candidate("/other", "{}")];
        let refused = store.append(event, preconditions).await;
        let Err(AppendError::Conflict(conflict)) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(conflict.precondition, Some(violated));
    }
}

#[tokio::test]
async fn client_and_server_keep_the_contract_in_the_older_shape() {
    contract::run(|| ClientWithServer::start_version_1(Dialect::Item)).await;
}

#[tokio::test]
async fn client_and_server_keep_the_contract_in_the_newer_shape() {
    contract::run(|| ClientWithServer::start_version_1(Dialect::Event)).await;
}

#[tokio::test]
async fn client_and_server_keep_the_contract_in_version_2() {
    contract::run(|| ClientWithServer::start(Dialect::Item)).await;
}

#[tokio::test]
async fn client_and_server_keep_the_contract_with_hashes_of_version_2() {
    let start = || async {
        let store = MemoryStore::new().with_hash_version(HashVersion::V2);
        let server = TestServer::over(store, Dialect::Event).await;
        let client = client(&server.url(), TOKEN);
        ClientWithServer { client, server }
    };
    contract::run(start).await;
}

#[tokio::test]
async fn what_an_append_returns_is_what_is_stored() {
    for served in [
        ClientWithServer::start_version_1(Dialect::Item).await,
        ClientWithServer::start_version_1(Dialect::Event).await,
        ClientWithServer::start(Dialect::Event).await,
    ] {
        let pair = vec![candidate("/a", r#"{"n":1.50}"#), candidate("/b", "{}")];
        let written = served.append(pair, vec![]).await.unwrap();
        let events = served.read(Subject::root(), ReadOptions::recursive());
        let read: Vec<_> = events.try_collect().await.unwrap();
        for (written, read) in written.iter().zip(&read) {
            assert_eq!((written.id, written.hash), (read.id, read.hash));
            assert_eq!(written.data.get(), read.data.get());
            assert_eq!(written.time, read.time);
        }
        assert_eq!((written.len(), read.len()), (2, 2));
    }
}

#[tokio::test]
async fn a_healthy_server_with_the_right_token_is_healthy() {
    for served in [
        ClientWithServer::start_version_1(Dialect::Item).await,
        ClientWithServer::start_version_1(Dialect::Event).await,
        ClientWithServer::start(Dialect::Event).await,
    ] {
        served.health().await.unwrap();
        let stranger = client(&served.server.url(), "wrong-token");
        let refused = stranger.health().await;
        assert!(
            matches!(refused, Err(StoreError::Unauthorized { .. })),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_wrong_token_is_an_error_of_its_own_everywhere() {
    let served = ClientWithServer::start(Dialect::Item).await;
    let stranger = client(&served.server.url(), "wrong-token");
    let written = stranger.append(vec![candidate("/a", "{}")], vec![]).await;
    assert!(
        matches!(
            written,
            Err(AppendError::Store(StoreError::Unauthorized { .. }))
        ),
        "{written:?}"
    );
    let read = stranger
        .read(Subject::root(), ReadOptions::default())
        .next()
        .await;
    assert!(
        matches!(read, Some(Err(StoreError::Unauthorized { .. }))),
        "{read:?}"
    );
    let observed = stranger
        .observe(Subject::root(), ObserveOptions::default())
        .next()
        .await;
    assert!(
        matches!(observed, Some(Err(StoreError::Unauthorized { .. }))),
        "{observed:?}"
    );
}

#[tokio::test]
async fn a_wrong_request_is_refused_with_the_servers_words() {
    let served = ClientWithServer::start(Dialect::Event).await;
    let mut wrong = candidate("/a", "{}");
    wrong.source = "my-app".into();
    let refused = served.append(vec![wrong], vec![]).await.unwrap_err();
    assert!(matches!(
        refused,
        AppendError::Store(StoreError::Refused(_))
    ));
    assert!(
        refused.to_string().contains("a source is a URI"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_server_that_shuts_down_interrupts_an_observation() {
    let mut served = ClientWithServer::start(Dialect::Item).await;
    let mut settings = ClientSettings::new(served.server.url(), TOKEN);
    settings.reconnect = ReconnectPolicy::never();
    served.client = EventSourcingDbStore::new(settings).unwrap();
    let mut observed = served.observe(Subject::root(), ObserveOptions::recursive_after(None));
    served
        .append(vec![candidate("/a", "{}")], vec![])
        .await
        .unwrap();
    assert!(observed.next().await.unwrap().is_ok());
    served.server.stop().await;
    let last = observed.next().await.unwrap().unwrap_err();
    assert!(
        last.is_transient() && last.to_string().contains("shutting down"),
        "{last}"
    );
    assert!(observed.next().await.is_none());
    let refused = served
        .append(vec![candidate("/a", "{}")], vec![])
        .await
        .unwrap_err();
    let address = served.server.address.to_string();
    assert!(refused.to_string().contains(&address), "{refused}");
    assert!(
        matches!(refused, AppendError::Store(StoreError::Unavailable { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn an_observation_continues_after_a_restart_of_the_server() {
    let store: Arc<dyn EventStore> = Arc::new(MemoryStore::new());
    let any_port = ([127, 0, 0, 1], 0).into();
    let mut server = TestServer::at(any_port, Arc::clone(&store), Dialect::Event).await;
    let mut settings = ClientSettings::new(server.url(), TOKEN);
    settings.reconnect.first_pause = Duration::from_millis(20);
    let client = EventSourcingDbStore::new(settings).unwrap();
    let mut observed = client.observe(Subject::root(), ObserveOptions::recursive_after(None));
    for id in 0..3 {
        let event = candidate("/a", "{}");
        store.append(vec![event], vec![]).await.unwrap();
        let event = timeout(Duration::from_secs(20), observed.next()).await;
        assert_eq!(event.unwrap().unwrap().unwrap().id.get(), id);
        let address = server.address;
        server.stop().await;
        server = TestServer::at(address, Arc::clone(&store), Dialect::Event).await;
    }
}

#[tokio::test]
async fn a_reader_that_stops_does_not_make_the_client_collect_the_rest() {
    let store = MemoryStore::new();
    let data = format!("{{\"text\":\"{}\"}}", "x".repeat(100_000));
    for _ in 0..300 {
        store
            .append(vec![candidate("/a", &data)], vec![])
            .await
            .unwrap();
    }
    let server = TestServer::over(store, Dialect::Item).await;
    let client = client(&server.url(), TOKEN);
    let mut read = client.read(Subject::root(), ReadOptions::recursive());
    assert!(read.next().await.unwrap().is_ok());
    drop(read);
    let rest = client.read(Subject::root(), ReadOptions::recursive());
    assert_eq!(rest.try_collect::<Vec<_>>().await.unwrap().len(), 300);
}
