//! Keys in a real PostgreSQL server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../tests/support/connection_proxy.rs"]
mod connection_proxy;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../tests/support/postgres_server.rs"]
mod postgres_server;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../tests/support/requirement.rs"]
mod requirement;

use std::time::Duration;

use connection_proxy::ConnectionProxy;
use es_personal::{KeyStore as _, KeyStoreError, SqlKeyStore, StoredKey};
use es_sql::DatabaseUrl;
use futures_util::future::join_all;
use postgres_server::PostgresServer;
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::time::timeout;
use uuid::Uuid;

const ADA: Uuid = Uuid::from_u128(1);
const KEY: [u8; 32] = *b"the key of Ada, which has to go!";

async fn open(url: &str) -> Result<SqlKeyStore, KeyStoreError> {
    SqlKeyStore::open(&DatabaseUrl::Postgres(url.to_owned())).await
}

/// Returns true if a file of a table of persons contains the key.
fn is_in_a_file(server: &PostgresServer) -> bool {
    let key: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    let search = format!(
        "CHECKPOINT; SELECT count(*) FROM pg_class \
         WHERE relname LIKE 'es_persons%' AND relkind = 'r' \
         AND position(decode('{key}', 'hex') IN pg_read_binary_file(pg_relation_filepath(oid))) > 0"
    );
    let found = server.query(&search);
    found.split_whitespace().last() != Some("0")
}

#[tokio::test]
async fn a_destroyed_key_is_in_no_file_of_the_table() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let keys = open(&server.url()).await.unwrap();
    let inserts = (1..=40).map(|person| keys.find_or_insert(Uuid::from_u128(person), KEY.to_vec()));
    for stored in join_all(inserts).await {
        assert_eq!(stored.unwrap(), StoredKey::Key(KEY.to_vec()));
    }
    assert!(is_in_a_file(&server));
    server.query("ANALYZE");
    let statistics =
        "SELECT count(*) FROM pg_stats WHERE tablename LIKE 'es_persons%' AND attname = 'key'";
    assert_eq!(server.query(statistics).trim(), "0");
    for person in 1..=40 {
        keys.erase(Uuid::from_u128(person)).await.unwrap();
    }
    assert!(!is_in_a_file(&server));
    let again = keys.find_or_insert(ADA, KEY.to_vec()).await.unwrap();
    assert_eq!(again, StoredKey::Erased);
}

#[tokio::test]
async fn an_erasure_does_not_wait_behind_a_backup() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let keys = open(&server.url()).await.unwrap();
    keys.find_or_insert(ADA, KEY.to_vec()).await.unwrap();
    let mut backup = PgConnection::connect(&server.url()).await.unwrap();
    let mut backup = backup.begin().await.unwrap();
    backup.execute("SELECT * FROM es_persons").await.unwrap();
    // Without the limit, the erasure and all that is asked about this person wait for the end of the backup.
    let refused = timeout(Duration::from_secs(60), keys.erase(ADA)).await;
    let refused = refused.unwrap().unwrap_err().to_string();
    assert!(refused.contains("the key is destroyed"), "{refused}");
    let again = keys.find_or_insert(ADA, KEY.to_vec()).await.unwrap();
    assert_eq!(again, StoredKey::Erased);
    backup.commit().await.unwrap();
    assert_eq!(keys.unfinished_erasures().await.unwrap(), [ADA]);
    keys.erase(ADA).await.unwrap();
    assert!(!is_in_a_file(&server));
}

#[tokio::test]
async fn persons_who_come_together_share_a_transaction() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let keys = open(&server.url()).await.unwrap();
    keys.erase(ADA).await.unwrap();
    // Each person comes twice.
    let inserts = (0..64).map(|number| {
        let key = vec![number; 32];
        keys.find_or_insert(Uuid::from_u128(1 + u128::from(number / 2)), key)
    });
    let stored: Vec<_> = join_all(inserts)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(stored[..2], [StoredKey::Erased, StoredKey::Erased]);
    for (index, twice) in stored.chunks(2).enumerate().skip(1) {
        assert_eq!(twice[0], twice[1]);
        let persons = keys.find(vec![Uuid::from_u128(1 + index as u128)]);
        assert_eq!(
            persons.await.unwrap().into_values().next().unwrap(),
            twice[0]
        );
    }
    let transactions = "SELECT count(DISTINCT xmin::text) FROM es_persons WHERE key IS NOT NULL";
    assert_eq!(server.query(transactions).trim(), "1");
}

#[tokio::test]
async fn a_rotation_during_a_backup_fails_and_the_next_start_overwrites_the_old_keys() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let keys = open(&server.url()).await.unwrap();
    keys.find_or_insert(ADA, KEY.to_vec()).await.unwrap();
    let rotate = async || {
        let keys = open(&server.url()).await.unwrap();
        let wrap = |_, key: &[u8]| Ok((key == KEY).then(|| vec![7; 60]));
        let rotated = timeout(Duration::from_secs(60), keys.rewrite_keys(Box::new(wrap)));
        rotated.await.expect("the rotation waits for the backup")
    };
    let mut backup = PgConnection::connect(&server.url()).await.unwrap();
    let mut backup = backup.begin().await.unwrap();
    backup.execute("SELECT * FROM es_persons").await.unwrap();
    let refused = rotate().await.unwrap_err().to_string();
    assert!(refused.contains("repeat this after it"), "{refused}");
    backup.commit().await.unwrap();
    assert!(is_in_a_file(&server));
    assert_eq!(rotate().await.unwrap(), 0);
    assert!(!is_in_a_file(&server));
    let found = keys.find(vec![ADA]).await.unwrap();
    assert_eq!(found[&ADA], StoredKey::Key(vec![7; 60]));
}

#[tokio::test]
async fn all_keys_are_rotated_however_many_there_are() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let keys = open(&server.url()).await.unwrap();
    let persons = (1..=2_500).map(Uuid::from_u128);
    let inserts = persons
        .clone()
        .map(|person| keys.find_or_insert(person, KEY.to_vec()));
    join_all(inserts).await;
    let wrap = |_, key: &[u8]| Ok((key == KEY).then(|| vec![7; 60]));
    assert_eq!(keys.rewrite_keys(Box::new(wrap)).await.unwrap(), 2_500);
    let found = keys.find(persons.collect()).await.unwrap();
    assert!(
        found
            .values()
            .all(|key| *key == StoredKey::Key(vec![7; 60]))
    );
}

#[tokio::test]
async fn the_keys_of_an_earlier_release_are_found() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    server.query(
        "CREATE TABLE es_key_store (only_row integer PRIMARY KEY CHECK (only_row = 1), id text NOT NULL);
         CREATE TABLE es_persons (person text PRIMARY KEY, key bytea, is_finished boolean NOT NULL DEFAULT false);
         INSERT INTO es_key_store VALUES (1, '00000000-0000-0000-0000-000000000007');
         INSERT INTO es_persons VALUES ('00000000-0000-0000-0000-000000000001', 'key of Ada', false);
         INSERT INTO es_persons VALUES ('00000000-0000-0000-0000-000000000002', NULL, true);",
    );
    for _ in 0..2 {
        let keys = open(&server.url()).await.unwrap();
        assert_eq!(keys.identity(), Uuid::from_u128(7));
        let found = keys.find(vec![ADA, Uuid::from_u128(2)]).await.unwrap();
        assert_eq!(found[&ADA], StoredKey::Key(b"key of Ada".to_vec()));
        assert_eq!(found[&Uuid::from_u128(2)], StoredKey::Erased);
        assert!(keys.unfinished_erasures().await.unwrap().is_empty());
    }
}

async fn open_through_proxy(server: &PostgresServer) -> (ConnectionProxy, SqlKeyStore) {
    let proxy = ConnectionProxy::start(server.host()).await;
    let through = format!("127.0.0.1:{}", proxy.port);
    let url = server.url().replace(&server.host(), &through);
    let keys = open(&url).await.unwrap();
    (proxy, keys)
}

#[tokio::test]
async fn a_connection_that_hangs_is_replaced() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (proxy, keys) = open_through_proxy(&server).await;
    for person in 1..=3 {
        let new = keys.find_or_insert(Uuid::from_u128(person), KEY.to_vec());
        new.await.unwrap();
        proxy.freeze();
    }
    let found = timeout(Duration::from_secs(60), keys.find(vec![ADA])).await;
    assert_eq!(found.unwrap().unwrap()[&ADA], StoredKey::Key(KEY.to_vec()));
}

#[tokio::test]
async fn a_key_whose_insertion_gets_no_answer_is_found() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (proxy, keys) = open_through_proxy(&server).await;
    let mut other = PgConnection::connect(&server.url()).await.unwrap();
    let mut other = other.begin().await.unwrap();
    other.execute("LOCK TABLE es_persons").await.unwrap();
    let freezing = async {
        let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
        while server.query(waits).trim() == "0" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        proxy.freeze();
        other.commit().await.unwrap();
    };
    let inserting = timeout(
        Duration::from_secs(60),
        keys.find_or_insert(ADA, KEY.to_vec()),
    );
    let (stored, ()) = tokio::join!(inserting, freezing);
    assert_eq!(stored.unwrap().unwrap(), StoredKey::Key(KEY.to_vec()));
}

#[tokio::test]
async fn keys_are_not_read_from_a_server_that_another_one_has_replaced() {
    let (Some(old), Some(new)) = (PostgresServer::start(), PostgresServer::start()) else {
        return;
    };
    let promoted = open(&new.url()).await.unwrap();
    promoted.erase(ADA).await.unwrap();
    new.set("default_transaction_read_only", "on");
    let both = format!("{},{}", old.host(), new.host());
    let url = old.url().replace(&old.host(), &both);
    let keys = open(&url).await.unwrap();
    let stored = keys.find_or_insert(ADA, KEY.to_vec()).await.unwrap();
    assert_eq!(stored, StoredKey::Key(KEY.to_vec()));
    old.set("default_transaction_read_only", "on");
    new.set("default_transaction_read_only", "off");
    for _ in 0..1_000 {
        // The servers read their settings again soon after they are told to.
        if keys.find(vec![ADA]).await.unwrap()[&ADA] == StoredKey::Erased {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the key of an erased person can still be read");
}

#[tokio::test]
async fn a_server_that_may_lose_keys_is_refused_unless_that_is_accepted() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let lazy = format!("{}?options[synchronous_commit]=off", server.url());
    let refused = open(&lazy).await.unwrap_err().to_string();
    assert!(refused.contains("synchronous_commit=off"), "{refused}");
    let accepted = format!("{lazy}&durability=unsafe");
    assert!(open(&accepted).await.is_ok());
}
