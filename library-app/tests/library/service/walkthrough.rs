//! The walk-through of the specification, against real programs.

use crate::support::{Library, book, client, get, json_of, start_event_store};
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

#[tokio::test]
async fn a_purchase_is_stored_in_the_embedded_event_store_as_specified() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    walk_through(&library).await;
    assert!(library.process.stop().success());
}

#[tokio::test]
async fn a_purchase_is_stored_in_an_event_store_elsewhere_as_specified() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, store_url) = start_event_store(folder.path(), 0);
    let library = Library::with_store(&store_url);
    walk_through(&library).await;
    assert!(library.process.stop().success());
}

async fn walk_through(library: &Library) {
    let ping = get(&format!("{}/api/v1/ping", library.store_url)).await;
    assert_eq!(
        (ping.status(), ping.text().await.unwrap().as_str()),
        (StatusCode::OK, "OK")
    );

    let first = Uuid::new_v4();
    let answer = library.purchase(&book(first)).await;
    assert_eq!(answer.status(), StatusCode::CREATED);
    assert_eq!(answer.headers()["location"], format!("/books/{first}"));
    assert_eq!(answer.headers()["event-position"], "0");
    assert_eq!(answer.text().await.unwrap(), "");

    let zeros = "0".repeat(64);
    let [stored] = library.stored_lines().await.try_into().unwrap();
    check_envelope(&stored, first, 0, &zeros);

    let second = Uuid::new_v4();
    assert_eq!(
        library.purchase(&book(second)).await.status(),
        StatusCode::CREATED
    );
    let [first_stored, second_stored] = library.stored_lines().await.try_into().unwrap();
    let first_hash = first_stored["payload"]["hash"].as_str().unwrap();
    check_envelope(&second_stored, second, 1, first_hash);
    // Recomputes every hash.
    assert_eq!(library.stored_events().await.len(), 2);

    refuses_a_second_purchase(library, first).await;
    shows_the_stock(library, &[first, second]).await;
    is_healthy(library).await;
}

fn check_envelope(line: &Value, id: Uuid, number: u64, predecessor: &str) {
    let is_hash = |value: &Value| {
        let text = value.as_str().unwrap();
        text.len() == 64
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    assert_eq!(line["type"], "item");
    let event = &line["payload"]["event"];
    assert_eq!(event["source"], "library-service");
    assert_eq!(event["subject"], format!("/books/{id}"));
    assert_eq!(event["type"], "com.example.library.BookPurchasedEvent");
    assert_eq!(event["specversion"], "1.0");
    assert_eq!(event["id"], number.to_string());
    assert_eq!(event["datacontenttype"], "application/json");
    assert_eq!(event["predecessorhash"], predecessor);
    assert_eq!(
        event["data"],
        json!({ "metadata": {}, "payload": book(id) })
    );
    let time = event["time"].as_str().unwrap();
    assert!(
        time.ends_with('Z') && time.contains('T') && time.contains('.'),
        "{time}"
    );
    assert!(is_hash(&line["payload"]["hash"]));
    let members: Vec<_> = event.as_object().unwrap().keys().collect();
    assert_eq!(
        members.len(),
        9,
        "nothing else is in the envelope: {members:?}"
    );
}

async fn refuses_a_second_purchase(library: &Library, id: Uuid) {
    let mut other = book(id);
    other["title"] = "Another title".into();
    let answer = library.purchase(&other).await;
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    assert_eq!(library.stored_lines().await.len(), 2);
}

async fn shows_the_stock(library: &Library, ids: &[Uuid]) {
    let request = client().get(format!("{}/books", library.url));
    let answer = request.header("event-position", "1").send().await.unwrap();
    let items: Vec<_> = ids.iter().map(|id| in_stock(*id)).collect();
    assert_eq!(json_of(answer).await, json!({ "items": items }));
    for id in ids {
        let answer = get(&format!("{}/books/{id}", library.url)).await;
        assert_eq!(json_of(answer).await, in_stock(*id));
    }
    let unknown = get(&format!("{}/books/{}", library.url, Uuid::new_v4())).await;
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
}

/// A purchased book as clients see it.
fn in_stock(id: Uuid) -> Value {
    let mut copy = book(id);
    copy["status"] = "available".into();
    copy["dueAt"] = Value::Null;
    copy["reader"] = Value::Null;
    copy
}

async fn is_healthy(library: &Library) {
    let (status, health) = library.health().await;
    assert_eq!(
        (status, &health["status"]),
        (StatusCode::OK, &json!("UP")),
        "{health}"
    );
    let components = health["components"].as_object().unwrap();
    let names: Vec<_> = components.keys().map(String::as_str).collect();
    let all = ["db", "diskSpace", "eventstore", "keystore", "ping", "ssl"];
    assert_eq!(names, all);
    for (name, component) in components {
        assert_eq!(component["status"], "UP", "{name}");
        assert!(name == "ping" || component["details"].is_object(), "{name}");
    }
}

#[tokio::test]
async fn the_stock_is_rebuilt_from_the_event_store_at_each_start() {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<_> = (0..3).map(|_| Uuid::new_v4()).collect();
    let library = Library::embedded(folder.path());
    for id in &ids {
        assert_eq!(
            library.purchase(&book(*id)).await.status(),
            StatusCode::CREATED
        );
    }
    assert!(library.process.stop().success());
    let library = Library::embedded(folder.path());
    let answer = get(&format!("{}/books", library.url)).await;
    let items: Vec<_> = ids.iter().map(|id| in_stock(*id)).collect();
    assert_eq!(json_of(answer).await, json!({ "items": items }));
}
