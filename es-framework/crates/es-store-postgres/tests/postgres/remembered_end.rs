//! A start on a database that lacks what the instance remembers of its log, or that is another one.

use std::path::Path;

use es_event::Subject;
use es_store::{AppendError, EventSchema, EventStore as _, ObserveOptions, StoreError};
use es_store_postgres::{PostgresOpenError, PostgresStore, PostgresStoreOptions};
use futures_util::StreamExt as _;
use tempfile::TempDir;

use crate::{
    postgres_server::PostgresServer,
    store_fixture::{StoreFixture, candidate, read_all},
};

const EXITS: &str = ": check the URL, restore a backup, or accept the loss with \
     EVENT_STORE_ACCEPT_LOSS=true (--accept-loss)";

async fn open_in(
    folder: &Path,
    url: &str,
    accept_loss: bool,
) -> Result<PostgresStore, PostgresOpenError> {
    let mut options = PostgresStoreOptions::default();
    options.data_folder = Some(folder.to_owned());
    options.accept_loss = accept_loss;
    PostgresStore::open_with_options(url.parse().unwrap(), options).await
}

async fn refusal(folder: &Path, url: &str) -> String {
    open_in(folder, url, false).await.unwrap_err().to_string()
}

async fn append(store: &PostgresStore, count: usize) {
    for number in 0..count {
        let written = store.append(vec![candidate("/a", number)], vec![]).await;
        written.unwrap();
    }
}

fn hosts_url(servers: &[&PostgresServer]) -> String {
    let hosts: Vec<_> = servers.iter().map(|server| server.host()).collect();
    format!("postgres://postgres@{}/postgres", hosts.join(","))
}

fn identity(server: &PostgresServer) -> String {
    let identity = server.query("SELECT identity FROM es_store_identity");
    identity.trim().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_on_an_emptied_schema_names_the_missing_events() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let (schema, folder) = (fixture.schema(), TempDir::new().unwrap());
    let url = fixture.url(&schema, "");
    let store = open_in(folder.path(), &url, false).await.unwrap();
    append(&store, 3).await;
    // A process that is killed closes no store: each confirmed event is in the file already.
    let killed = TempDir::new().unwrap();
    let file = "postgres.end";
    std::fs::copy(folder.path().join(file), killed.path().join(file)).unwrap();
    store.close().await;
    fixture.server.query(&format!(
        "DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}"
    ));
    for folder in [killed.path(), folder.path()] {
        let expected = format!(
            "the server {} has 0 events, but 3 were stored, so the last 3 are missing{EXITS}",
            fixture.server.host()
        );
        assert_eq!(refusal(folder, &url).await, expected);
    }
    let tables = format!("SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'");
    assert_eq!(fixture.server.query(&tables).trim(), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_on_an_older_dump_is_refused_until_the_loss_is_accepted() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (url, folder) = (server.url(), TempDir::new().unwrap());
    let store = open_in(folder.path(), &url, false).await.unwrap();
    append(&store, 2).await;
    let dump = server.dump(folder.path());
    append(&store, 3).await;
    store.close().await;
    server.restore(&dump);
    let refused = refusal(folder.path(), &url).await;
    let missing = "has 2 events, but 5 were stored, so the last 3 are missing";
    assert!(refused.contains(missing), "{refused}");
    assert!(refused.ends_with(EXITS), "{refused}");
    let accepted = open_in(folder.path(), &url, true).await.unwrap();
    append(&accepted, 1).await;
    accepted.close().await;
    let store = open_in(folder.path(), &url, false).await.unwrap();
    assert_eq!(read_all(&store).await.len(), 3);
    store.close().await;
    // The log grows beyond the remembered number, but with other events.
    server.restore(&dump);
    let other = TempDir::new().unwrap();
    let store = open_in(other.path(), &url, false).await.unwrap();
    append(&store, 4).await;
    store.close().await;
    let refused = refusal(folder.path(), &url).await;
    let differs = "has another event 2 than the one that was stored";
    assert!(refused.contains(differs), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_on_another_database_names_both_identities() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let other = server.start_unrelated();
    let (folder, other_folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let store = open_in(folder.path(), &server.url(), false).await.unwrap();
    append(&store, 2).await;
    store.close().await;
    let store = open_in(other_folder.path(), &other.url(), false)
        .await
        .unwrap();
    append(&store, 7).await;
    store.close().await;
    let expected = format!(
        "the server {} holds the event store {}, but this instance has used the event store {}, \
         whose 2 events are missing there{EXITS}",
        other.host(),
        identity(&other),
        identity(&server)
    );
    assert_eq!(refusal(folder.path(), &other.url()).await, expected);
    // The move to another database is accepted once.
    let moved = open_in(folder.path(), &other.url(), true).await.unwrap();
    moved.close().await;
    let store = open_in(folder.path(), &other.url(), false).await.unwrap();
    assert_eq!(read_all(&store).await.len(), 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_uses_no_server_that_is_no_replica() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let other = server.start_unrelated();
    let folder = TempDir::new().unwrap();
    let store = open_in(folder.path(), &server.url(), false).await.unwrap();
    append(&store, 2).await;
    store.close().await;
    let store = PostgresStore::open(other.url().parse().unwrap()).await;
    append(&store.unwrap(), 5).await;
    let url = hosts_url(&[&other, &server]);
    let store = open_in(folder.path(), &url, false).await.unwrap();
    assert_eq!(read_all(&store).await.len(), 2);
    append(&store, 1).await;

    // The failover leads to the other server only while the instance runs, and at its next start.
    server.signal("-KILL");
    let refused = store.append(vec![candidate("/a", 9)], vec![]).await;
    let Err(AppendError::Store(StoreError::Unavailable { reason, .. })) = refused else {
        panic!("{refused:?}");
    };
    assert!(reason.contains("holds the event store"), "{reason}");
    assert!(store.health().await.is_err());
    store.close().await;
    let refused = refusal(folder.path(), &url).await;
    assert!(
        refused.contains("whose 3 events are missing there"),
        "{refused}"
    );
    assert_eq!(other.query("SELECT count(*) FROM es_events").trim(), "5");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_tables_takes_no_event_of_a_running_instance() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let other = server.start_unrelated();
    let url = hosts_url(&[&server, &other]);
    // Before the first contact, only one of the servers may accept writes.
    other.set("default_transaction_read_only", "on");
    let store = PostgresStore::open(url.parse().unwrap()).await.unwrap();
    other.set("default_transaction_read_only", "off");
    server.signal("-KILL");
    let refused = store.append(vec![candidate("/a", 0)], vec![]).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("holds no event store"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_standby_keeps_the_identity() {
    let Some(primary) = PostgresServer::start() else {
        return;
    };
    let standby = primary.start_standby();
    primary.set("synchronous_standby_names", "*");
    let url = hosts_url(&[&primary, &standby]);
    let folder = TempDir::new().unwrap();
    let store = open_in(folder.path(), &url, false).await.unwrap();
    append(&store, 3).await;
    store.close().await;
    primary.signal("-KILL");
    standby.query("SELECT pg_promote()");
    let store = open_in(folder.path(), &url, false).await.unwrap();
    append(&store, 1).await;
    assert_eq!(read_all(&store).await.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_data_folder_accepts_a_filled_database_and_remembers_it() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let url = fixture.url(&schema, "");
    append(&fixture.open(&schema, "").await, 4).await;
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("new/data");
    let store = open_in(&folder, &url, false).await.unwrap();
    assert_eq!(read_all(&store).await.len(), 4);
    store.close().await;
    let delete = format!("DELETE FROM {schema}.es_events WHERE id = 3");
    fixture.server.query(&delete);
    let refused = refusal(&folder, &url).await;
    assert!(refused.contains("has 3 events, but 4"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_remembers_the_events_and_schemas_of_others() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    let (url, folder) = (fixture.url(&schema, ""), TempDir::new().unwrap());
    let reader = open_in(folder.path(), &url, false).await.unwrap();
    let mut observer = reader.observe(Subject::root(), ObserveOptions::recursive_after(None));
    let writer = fixture.open(&schema, "").await;
    append(&writer, 2).await;
    for _ in 0..2 {
        observer.next().await.unwrap().unwrap();
    }
    let event_type = candidate("/a", 0).event_type;
    let object = EventSchema::parse(r#"{"type":"object","properties":{}}"#).unwrap();
    let registered = reader.register_event_schema(event_type, object).await;
    registered.unwrap();
    append(&reader, 1).await;
    reader.close().await;
    let lose = format!("UPDATE {schema}.es_head SET schemas = 0");
    fixture.server.query(&lose);
    let refused = refusal(folder.path(), &url).await;
    let missing = "has 0 schemas, but 1 were registered";
    assert!(refused.contains(missing), "{refused}");
    fixture
        .server
        .query(&format!("DELETE FROM {schema}.es_events"));
    let refused = refusal(folder.path(), &url).await;
    assert!(refused.contains("the last 3 are missing"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_file_is_no_first_contact_for_the_database() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let (url, folder) = (fixture.url(&fixture.schema(), ""), TempDir::new().unwrap());
    let store = open_in(folder.path(), &url, false).await.unwrap();
    append(&store, 1).await;
    store.close().await;
    std::fs::write(folder.path().join("postgres.end"), "damaged").unwrap();
    let store = open_in(folder.path(), &url, false).await.unwrap();
    assert_eq!(read_all(&store).await.len(), 1);
}
