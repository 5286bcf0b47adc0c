//! Operators handle poison events and rebuild read models.

use crate::support::live_query::LiveQuery;
use crate::support::postgres_server::PostgresServer;
use crate::support::{Library, TOKEN, book, client, eventually, json_of};
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

async fn total(library: &Library, position: &str) -> Value {
    let asked = client().get(format!("{}/books?limit=1&total=true", library.url));
    let answer = asked.header("event-position", position).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    json_of(answer).await["total"].clone()
}

/// Writes an event without a command, as a client of the event store with the token can.
async fn write(library: &Library, subject: &str, event: &str, payload: Value) {
    let event = json!({
        "source": "library-service",
        "subject": subject,
        "type": format!("com.example.library.{event}"),
        "data": { "metadata": {}, "payload": payload },
    });
    let request = client()
        .post(format!("{}/api/v1/write-events", library.store_url))
        .bearer_auth(TOKEN)
        .body(json!({ "events": [event] }).to_string());
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
}

/// Returns the status and the header `Held-Rows` of an answer.
async fn held_rows(library: &Library, path: &str, position: &str) -> (StatusCode, String) {
    let asked = client().get(format!("{}{path}", library.url));
    let answer = asked.header("event-position", position).send().await;
    let answer = answer.unwrap();
    let held = answer.headers().get("held-rows");
    let held = held.map(|held| held.to_str().unwrap().to_owned());
    (answer.status(), held.unwrap_or_default())
}

/// Returns the entity tag of an answer.
async fn entity_tag(library: &Library, path: &str, position: &str) -> String {
    let asked = client().get(format!("{}{path}", library.url));
    let answer = asked.header("event-position", position).send().await;
    let tag = answer.unwrap().headers()["etag"]
        .to_str()
        .map(str::to_owned);
    tag.unwrap()
}

/// Waits until a live query says which rows are held.
async fn until_held_rows(live: &mut LiveQuery, expected: &str) {
    let expected = format!("event: held-rows\ndata: {expected}");
    while !live.block().await.unwrap().contains(&expected) {}
}

/// Returns the JSON that a subcommand prints.
fn json_said(library: &Library, arguments: &[&str]) -> Value {
    serde_json::from_str(&library.said(arguments, true)).unwrap()
}

/// Answers mark the rows that wait, until an operator skips their events.
async fn release_rows(library: &Library, live: &mut LiveQuery, id: Uuid, lent: Uuid) {
    // The rows that wait are marked, also where there is no row yet.
    let missing = held_rows(library, &format!("/books/{id}"), "5").await;
    assert_eq!(
        missing,
        (StatusCode::NOT_FOUND, "total=2, rows=()".to_owned())
    );
    let old = held_rows(library, &format!("/books/{lent}"), "5").await;
    let marked = format!("total=2, rows=(\"{lent}\")");
    assert_eq!(old, (StatusCode::OK, marked.clone()));
    let page = held_rows(library, "/books", "5").await;
    assert_eq!(page, (StatusCode::OK, marked.clone()));
    // The tag names the last event before the one at which the row waits, so `If-Match` refuses to overwrite that one.
    for path in [&format!("/books/{lent}"), "/books", "/books?total=true"] {
        let tag = entity_tag(library, path, "5").await;
        assert!(tag.starts_with("\"3-"), "{path}: {tag}");
    }
    // A page without the row is not concerned.
    let others = entity_tag(library, "/books?title=Nothing&total=true", "5").await;
    assert!(others.starts_with("\"5-"), "{others}");
    until_held_rows(live, &marked).await;
    // This query reads another table, and a query with code of its own may read any.
    let reader = held_rows(library, &format!("/readers/{id}"), "5").await;
    assert_eq!(reader, (StatusCode::NOT_FOUND, String::new()));
    let overdue = held_rows(library, "/loans/overdue", "5").await;
    assert_eq!(overdue.1, "total=2, rows=()");

    let command = |arguments: &[&str]| {
        let reply = json_said(library, &[&["projection"], arguments].concat());
        assert_eq!(reply["readModel"], "book_copies");
        (reply["retriedKeys"].clone(), reply["releasedKeys"].clone())
    };
    let id = id.to_string();
    assert_eq!(command(&["retry", "book_copies"]), (json!(2), json!(0)));
    let skipped = command(&["skip", "book_copies", "--key", &id]);
    assert_eq!(skipped, (json!(1), json!(1)));
    assert_eq!(command(&["skip", "book_copies"]), (json!(1), json!(1)));
    // The choices of the operator are events, too.
    assert_eq!(total(library, "7").await, 4);
    assert_eq!(held_rows(library, "/books", "7").await.1, "");
    until_held_rows(live, "total=0").await;
}

/// A read model holds a row at a poison event, reports it, and all other rows go on.
async fn operate(library: &Library) {
    for _ in 0..2 {
        library.purchase(&book(Uuid::new_v4())).await;
    }
    let lent = Uuid::new_v4();
    library.purchase(&book(lent)).await;
    assert_eq!(total(library, "2").await, 3);
    let mut live = LiveQuery::open(&library.url, "/books").await;
    let id = Uuid::new_v4();
    let poisoned = format!("/books/{id}");
    let poison = json!({ "numPages": "many" });
    write(library, &poisoned, "BookPurchasedEvent", poison.clone()).await;
    write(
        library,
        &format!("/books/{lent}"),
        "BookPurchasedEvent",
        poison,
    )
    .await;
    library.purchase(&book(Uuid::new_v4())).await;
    assert_eq!(total(library, "5").await, 4);
    eventually("the read model's trouble is logged", async || {
        let log = library.process.log();
        let is_expected = |line: &str| {
            let rows = [id, lent].map(|id| line.contains(&format!(" on /books/{id}")));
            line.contains("cannot take event") && rows.contains(&true)
        };
        log.lines().any(is_expected).then_some(())
    })
    .await;

    let status = &json_said(library, &["projection", "status"])["book_copies"];
    assert_eq!(status["position"], "5", "{status}");
    assert_eq!(status["eventsBehind"], 0, "{status}");
    let failure = &status["held"]["failures"][0];
    assert_eq!(
        (&failure["keys"], &failure["events"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(failure["subject"], poisoned.as_str());
    let (_, health) = library.health().await;
    let db = &health["components"]["db"];
    assert_eq!(db["status"], "UP");
    let held = &db["details"]["readModels"]["book_copies"]["held"];
    assert_eq!(
        (&held["keys"], &held["failures"][0]["keys"]),
        (&json!(2), &json!(2))
    );

    release_rows(library, &mut live, id, lent).await;
    drop(live);
    let nothing = library.said(&["projection", "skip", "book_copies"], false);
    assert!(nothing.contains("holds no such key"), "{nothing}");
    let unknown = library.said(&["projection", "rebuild", "cups"], false);
    assert!(unknown.contains("no read model named cups"), "{unknown}");

    rebuild(library).await;
}

/// Queries show every purchase during a rebuild.
async fn rebuild(library: &Library) {
    library.said(&["projection", "rebuild", "book_copies"], true);
    for position in 8..28 {
        library.purchase(&book(Uuid::new_v4())).await;
        let purchased = position.to_string();
        assert_eq!(total(library, &purchased).await, position - 3);
    }
    eventually("the new rows answer", async || {
        let log = library.process.log();
        log.contains("built anew").then_some(())
    })
    .await;
    let status = &json_said(library, &["projection", "status"])["book_copies"];
    assert_eq!(status["position"], "27", "{status}");
    assert_eq!(status["rebuild"], Value::Null, "{status}");
}

#[tokio::test]
async fn an_operator_looks_after_read_models_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    operate(&library).await;
    assert!(library.process.stop().success());
    // The rows are lost. The choice of the operator is not.
    let library = Library::embedded(folder.path());
    assert_eq!(total(&library, "27").await, 24);
}

#[tokio::test]
async fn an_operator_looks_after_read_models_in_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let settings = [("DATABASE_URL", url.as_str())];
    let library = Library::embedded_with(folder.path(), &settings);
    operate(&library).await;
    assert!(library.process.stop().success());
    // A skipped event stays skipped.
    let library = Library::embedded_with(folder.path(), &settings);
    assert_eq!(total(&library, "27").await, 24);
}
