//! A database that cannot hold read models is refused when it is opened, with what to do.

use es_framework::projection::{Database, ReadModels};

use super::postgres_server::PostgresServer;

/// Returns the reason why a database is refused.
async fn refusal(url: &str) -> String {
    let opened = Database::open(&url.parse().unwrap(), &ReadModels::default()).await;
    opened.unwrap_err().to_string()
}

#[tokio::test]
async fn a_database_that_cannot_hold_read_models_is_refused_at_the_start() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    server.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    let (address, _) = server
        .url()
        .rsplit_once('/')
        .map(|(address, rest)| (address.to_owned(), rest.to_owned()))
        .unwrap();
    let reason = refusal(&format!("{address}/latin")).await;
    assert!(reason.contains("has the encoding LATIN1"), "{reason}");
    assert!(reason.contains("ENCODING 'UTF8'"), "{reason}");

    server.query(
        "CREATE ROLE reader LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC; \
         CREATE SCHEMA own AUTHORIZATION reader",
    );
    let of_reader = server.url().replace("postgres@", "reader@");
    let reason = refusal(&of_reader).await;
    assert!(
        reason.contains("create the tables in the schema public"),
        "{reason}"
    );
    assert!(reason.contains("GRANT CREATE ON SCHEMA public"), "{reason}");
    let reason = refusal(&format!("{of_reader}?options[search_path]=none")).await;
    assert!(
        reason.contains("has no schema of the search path"),
        "{reason}"
    );
    let own = format!("{of_reader}?options[search_path]=own");
    let opened = Database::open(&own.parse().unwrap(), &ReadModels::default()).await;
    assert_eq!(opened.unwrap().kind(), "PostgreSQL");
}
