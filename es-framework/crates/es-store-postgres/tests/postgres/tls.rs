//! Connections with TLS.

use std::{fs, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use es_read::projection::{Database, ReadModels};
use es_store::StoreCatalog as _;
use es_store_postgres::PostgresStore;

use crate::store_fixture::{StoreFixture, open};

/// Writes a file into the folder of the server, which its user alone may read.
fn write_server_file(fixture: &StoreFixture, name: &str, content: &str) {
    let content = BASE64_STANDARD.encode(content);
    fixture.server.query(&format!(
        "COPY (SELECT '{content}') TO PROGRAM 'umask 077; base64 -d > {name}'"
    ));
}

/// Gives the server a certificate for its address, and writes it into a file for clients.
fn turn_on_tls(fixture: &StoreFixture, trusted: &Path) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".into()]).unwrap();
    write_server_file(fixture, "server.crt", &made.cert.pem());
    write_server_file(fixture, "server.key", &made.signing_key.serialize_pem());
    fixture.server.query("ALTER SYSTEM SET ssl = on");
    fixture.server.query("SELECT pg_reload_conf()");
    fs::write(trusted, made.cert.pem()).unwrap();
}

#[tokio::test]
async fn a_server_with_tls_is_verified_and_every_connection_uses_it() {
    let Some(fixture) = StoreFixture::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [trusted, other] = ["trusted.pem", "other.pem"].map(|name| folder.path().join(name));
    turn_on_tls(&fixture, &trusted);
    let of_another = rcgen::generate_simple_self_signed(vec!["127.0.0.1".into()]).unwrap();
    fs::write(&other, of_another.cert.pem()).unwrap();
    let schema = fixture.schema();
    let url = |roots: &Path| {
        let parameters = format!("&sslmode=verify-full&sslrootcert={}", roots.display());
        fixture.url(&schema, &parameters)
    };
    // The server needs a moment to read its settings again.
    let mut store = PostgresStore::open(url(&trusted).parse().unwrap()).await;
    for _ in 0..100 {
        if store.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        store = PostgresStore::open(url(&trusted).parse().unwrap()).await;
    }
    let store = store.unwrap();
    assert!(store.health().await.is_ok());
    let open_text = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
         WHERE NOT ssl AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    assert_eq!(fixture.server.query(open_text).trim(), "0");

    let refused = PostgresStore::open(url(&other).parse().unwrap()).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("certificate"), "{refused}");
    // Without a file, the certificates of the system decide, and none of them signed this one.
    let unknown = fixture.url(&schema, "&sslmode=verify-full");
    let refused = PostgresStore::open(unknown.parse().unwrap()).await;
    assert!(refused.is_err());

    let models = ReadModels::default();
    let read_models = async |roots: &Path| {
        let database = url(roots).parse().unwrap();
        Database::open(&database, &models).await
    };
    assert!(read_models(&trusted).await.is_ok());
    let refused = read_models(&other).await.unwrap_err().to_string();
    assert!(refused.contains("certificate"), "{refused}");

    // Without a demand, the connection is encrypted and not verified.
    assert!(open(&fixture.url(&schema, "")).await.health().await.is_ok());
}
