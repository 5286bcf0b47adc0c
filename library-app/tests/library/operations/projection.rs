//! Operators handle poison events and rebuild read models.

use crate::support::postgres_server::PostgresServer;
use crate::support::{Library, TOKEN, book, client, eventually, get, json_of, post};
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

/// Returns the event at which a read model of a query has stopped.
async fn stopped_at(library: &Library, path: &str) -> Option<String> {
    let answer = get(&format!("{}{path}", library.url)).await;
    let stopped_at = answer.headers().get("read-model-stopped-at").cloned();
    assert_eq!(
        answer.status(),
        StatusCode::OK,
        "{}",
        answer.text().await.unwrap()
    );
    Some(stopped_at?.to_str().unwrap().to_owned())
}

async fn stops(library: &Library) {
    eventually("the read model stops", async || {
        let (_, health) = library.health().await;
        let model = &health["components"]["db"]["details"]["readModels"]["book_copies"];
        (model["stopped"] == true).then_some(())
    })
    .await;
}

/// A read model stops at a poison event, reports it, and continues after an operator's command.
async fn operate(library: &Library) {
    for _ in 0..3 {
        library.purchase(&book(Uuid::new_v4())).await;
    }
    // A read model that has never caught up answers nothing after it stops.
    assert_eq!(total(library, "2").await, 3);
    let poisoned = format!("/books/{}", Uuid::new_v4());
    let poison = json!({ "numPages": "many" });
    write(library, &poisoned, "BookPurchasedEvent", poison).await;
    library.purchase(&book(Uuid::new_v4())).await;
    stops(library).await;
    let logged = async || {
        let log = library.process.log();
        log.contains("cannot take").then_some(log)
    };
    let log = eventually("the read model's trouble is logged", logged).await;
    let line = log
        .lines()
        .find(|line| line.contains("cannot take"))
        .unwrap();
    assert!(
        line.contains(&poisoned) && line.contains("event=3"),
        "{line}"
    );

    let status = library.said(&["projection", "status"], true);
    assert!(
        status.contains("book_copies: at event 2, 2 behind"),
        "{status}"
    );
    assert!(status.contains(&poisoned), "{status}");
    // The other read models continue.
    assert!(
        status.contains("open_loans: at event 4, 0 behind"),
        "{status}"
    );

    // The rows are older than the other events, and the answer says so.
    assert_eq!(stopped_at(library, "/books").await.as_deref(), Some("3"));

    let retried = library.said(&["projection", "retry", "book_copies"], true);
    assert!(
        retried.contains(&format!("event 3 on {poisoned}")),
        "{retried}"
    );
    stops(library).await;
    let skipped = library.said(&["projection", "skip", "book_copies"], true);
    assert!(skipped.contains("skips the event"), "{skipped}");
    // The choice of the operator is an event, too.
    assert_eq!(total(library, "5").await, 4);
    assert_eq!(stopped_at(library, "/books").await, None);
    let nothing = library.said(&["projection", "skip", "book_copies"], false);
    assert!(nothing.contains("has not stopped"), "{nothing}");
    let unknown = library.said(&["projection", "rebuild", "cups"], false);
    assert!(unknown.contains("no read model named cups"), "{unknown}");

    library.said(&["projection", "rebuild", "book_copies"], true);
    for position in 5..25 {
        // During the rebuild, queries show every purchase.
        library.purchase(&book(Uuid::new_v4())).await;
        let purchased = (position + 1).to_string();
        assert_eq!(total(library, &purchased).await, position);
    }
    eventually("the new rows answer", async || {
        let log = library.process.log();
        log.contains("built anew").then_some(())
    })
    .await;
    let status = library.said(&["projection", "status"], true);
    assert!(
        status.contains("book_copies: at event 25, 0 behind\n"),
        "{status}"
    );
    assert!(!status.contains("rebuilt"), "{status}");
}

#[tokio::test]
async fn an_operator_looks_after_read_models_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    operate(&library).await;
    assert!(library.process.stop().success());
    // The rows are lost. The choice of the operator is not.
    let library = Library::embedded(folder.path());
    assert_eq!(total(&library, "25").await, 24);
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
    assert_eq!(total(&library, "25").await, 24);
}

#[tokio::test]
async fn only_who_has_the_token_is_an_operator() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let rebuild = format!("{}/actuator/projections/book_copies/rebuild", library.url);
    let answer = post(&rebuild, "").await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(answer.headers()["www-authenticate"], "Bearer");
    for token in ["", "other"] {
        let request = client().post(&rebuild).bearer_auth(token);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    }
    let rename = format!("{}/actuator/projections/book_copies/rename", library.url);
    for (url, status) in [(&rebuild, StatusCode::OK), (&rename, StatusCode::NOT_FOUND)] {
        let answer = client().post(url).bearer_auth(TOKEN).send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
    let shown = get(&format!("{}/actuator/projections", library.url)).await;
    assert_eq!(json_of(shown).await["book_copies"]["stopped"], false);
}
