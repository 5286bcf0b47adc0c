//! The EventQL editor of the console in a running service.

use std::time::Duration;

use reqwest::{RequestBuilder, StatusCode};
use uuid::Uuid;

use crate::support::{Library, TOKEN, book, client, eventually};

/// A query that takes longer than a test: each combination of eight events.
const ENDLESS: &str = "FROM a IN events FROM b IN events FROM c IN events FROM d IN events \
    FROM e IN events FROM f IN events FROM g IN events FROM h IN events \
    WHERE a.subject == 'secret' PROJECT INTO COUNT()";

/// Returns the request with the form of a query.
fn query(library: &Library, query: &str) -> RequestBuilder {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let request = client().post(format!("{}/console/eventql", library.url));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.bearer_auth(TOKEN).body(format!("query={encoded}"))
}

#[tokio::test]
async fn an_operator_queries_the_events_and_cancels_a_query() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    for _ in 0..12 {
        let purchased = library.purchase(&book(Uuid::new_v4())).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
    }
    let titles = "FROM e IN events WHERE e.data.payload.title == 'The Lord of the Rings' TOP 2 \
        PROJECT INTO { title: e.data.payload.title }";
    let answer = query(&library, titles).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let page = answer.text().await.unwrap();
    assert!(
        page.contains("2 rows") && page.contains("<bdi>The Lord of the Rings</bdi>"),
        "{page}"
    );
    // A client that closes the connection ends the query.
    let impatient = query(&library, ENDLESS).timeout(Duration::from_millis(300));
    assert!(impatient.send().await.unwrap_err().is_timeout());
    eventually("the query is cancelled", async || {
        let log = library.process.log();
        log.contains("an operator cancelled an EventQL query")
            .then_some(())
    })
    .await;
    let log = library.process.log();
    assert!(
        log.contains("an operator ran an EventQL query") && log.contains("127.0.0.1"),
        "{log}"
    );
    assert!(!log.contains("Rings") && !log.contains("secret"), "{log}");
}
