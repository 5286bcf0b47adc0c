//! The checks of a start.

use std::time::{Duration, Instant};

use es_store::{EventLog as _, StoreCatalog as _};
use es_store_postgres::{PostgresStore, PostgresStoreOptions};

use crate::store_fixture::{StoreFixture, candidate, open};

async fn refusal(url: &str) -> String {
    let opened = PostgresStore::open(url.parse().unwrap()).await;
    opened.unwrap_err().to_string()
}

#[tokio::test]
async fn a_server_that_may_lose_events_is_refused_unless_that_is_accepted() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let url = fixture.url(&fixture.schema(), "");
    let lazy = format!("{url}&options[synchronous_commit]=off");
    let refused = refusal(&lazy).await;
    assert_eq!(
        refused,
        "PostgreSQL runs with synchronous_commit=off and may lose what it has confirmed: turn it on, \
         or accept the loss with ?durability=unsafe in the URL"
    );
    fixture.server.query("ALTER SYSTEM SET fsync = off");
    fixture.server.query("SELECT pg_reload_conf()");
    let mut refused = String::new();
    for _ in 0..100 {
        match PostgresStore::open(url.parse().unwrap()).await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) => {
                refused = error.to_string();
                break;
            }
        }
    }
    assert!(refused.contains("fsync=off"), "{refused}");
    let store = open(&format!("{lazy}&durability=unsafe")).await;
    assert!(store.health().await.is_ok());
}

#[tokio::test]
async fn a_server_older_than_version_13_is_refused() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    // A view that hides the settings of the server makes it look older.
    fixture.server.query(
        "CREATE SCHEMA old; CREATE VIEW old.pg_settings AS \
         SELECT 'server_version' AS name, '12.22' AS setting \
         UNION ALL SELECT 'server_version_num', '120022'",
    );
    let url = fixture.url(&fixture.schema(), "");
    let refused = refusal(&format!("{url}&options[search_path]=old,pg_catalog")).await;
    assert_eq!(
        refused,
        "PostgreSQL 13 or newer is needed, and this is 12.22"
    );
}

#[tokio::test]
async fn tables_of_a_newer_version_are_left_alone() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    fixture.open(&schema, "").await.close().await;
    let newer = format!("UPDATE {schema}.es_store_version SET version = 7");
    fixture.server.query(&newer);
    let refused = refusal(&fixture.url(&schema, "")).await;
    assert!(refused.contains("version 7"), "{refused}");
}

#[tokio::test]
async fn a_user_without_the_right_to_create_tables_opens_those_that_exist() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    fixture.open(&schema, "").await.close().await;
    fixture.server.query(&format!(
        "CREATE USER guest; GRANT USAGE ON SCHEMA {schema} TO guest; \
         GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema} TO guest"
    ));
    let url = fixture.url(&schema, "").replace("postgres@", "guest@");
    assert!(open(&url).await.health().await.is_ok());
    let other = fixture
        .url(&fixture.schema(), "")
        .replace("postgres@", "guest@");
    let refused = refusal(&other).await;
    assert!(refused.contains("cannot be used"), "{refused}");
}

#[tokio::test]
async fn a_start_waits_for_the_primary_although_another_server_refuses_the_connection() {
    let (Some(fixture), Some(other)) = (StoreFixture::start(), StoreFixture::start()) else {
        return;
    };
    let server = &fixture.server;
    server.query("CREATE DATABASE library");
    server.set("default_transaction_read_only", "on");
    let hosts = format!("{},{}", other.server.host(), server.host());
    let url = format!("postgres://postgres@{hosts}/library");
    let becomes_primary = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        server.set("default_transaction_read_only", "off");
    };
    let (store, ()) = tokio::join!(open(&url), becomes_primary);
    assert!(store.health().await.is_ok());
    // Without another server, the refusal is final.
    let begun = Instant::now();
    let alone = format!("postgres://postgres@{}/library", other.server.host());
    let refused = refusal(&alone).await;
    assert!(refused.contains("does not exist"), "{refused}");
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn a_server_that_is_away_is_named_without_its_password() {
    let refused = refusal("postgres://me:secret@127.0.0.1:1/events").await;
    let start = "no server of the PostgreSQL database events on 127.0.0.1:1 accepts writes:";
    assert!(refused.starts_with(start), "{refused}");
    assert!(!refused.contains("secret"), "{refused}");
}

#[tokio::test]
async fn a_database_that_cannot_hold_all_texts_is_refused() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let server = &fixture.server;
    for (database, encoding) in [("latin", "LATIN1"), ("ascii", "SQL_ASCII")] {
        server.query(&format!(
            "CREATE DATABASE {database} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        ));
        let url = format!("postgres://postgres@{}/{database}", server.host());
        for durability in ["", "?durability=unsafe"] {
            assert_eq!(
                refusal(&format!("{url}{durability}")).await,
                format!(
                    "the database has the encoding {encoding}, which cannot hold all texts: create another one with \
                     `CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0`"
                )
            );
        }
    }
}

#[tokio::test]
async fn a_role_that_may_not_append_is_refused_at_the_start_with_the_statements_that_let_it() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let schema = fixture.schema();
    fixture.open(&schema, "").await.close().await;
    fixture.server.query(&format!(
        "CREATE USER \"Reader\"; GRANT USAGE ON SCHEMA {schema} TO \"Reader\"; \
         GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO \"Reader\""
    ));
    let url = fixture.url(&schema, "").replace("postgres@", "Reader@");
    let refused = refusal(&url).await;
    let statements = refused.split('`').nth(1).unwrap();
    assert!(
        statements.contains("GRANT INSERT ON es_events TO \"Reader\""),
        "{refused}"
    );
    // A backup needs no more than it has.
    let mut options = PostgresStoreOptions::default();
    options.skip_verification = true;
    let opened = PostgresStore::open_with_options(url.parse().unwrap(), options).await;
    assert!(opened.is_ok());
    let granted = format!("SET search_path = {schema}; {statements}");
    fixture.server.query(&granted);
    let store = open(&url).await;
    let appended = store.append(vec![candidate("/a", 0)], vec![]).await;
    assert_eq!(appended.unwrap().len(), 1);
}
