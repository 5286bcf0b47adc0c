//! Operators retry or skip the poison event of a reaction.

use crate::support::{
    Library, TOKEN, book, client, eventually, get, json_of, post, start_event_store,
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

/// Writes a malformed loan event, as a client of the event store with the token can.
async fn write_poison(store_url: &str, subject: &str) {
    let event = json!({
        "source": "library-service",
        "subject": subject,
        "type": "com.example.library.BookBorrowedEvent",
        "data": { "metadata": {}, "payload": { "dueAt": "soon" } },
    });
    let request = client()
        .post(format!("{store_url}/api/v1/write-events"))
        .bearer_auth(TOKEN)
        .body(json!({ "events": [event] }).to_string());
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
}

async fn reminder(library: &Library) -> Value {
    let shown = get(&format!("{}/actuator/reactions", library.url)).await;
    json_of(shown).await["LoanReminder"].clone()
}

async fn holds(library: &Library, subjects: &[&str]) {
    eventually("the reaction holds or releases a subject", async || {
        let held = reminder(library).await["held"]["failures"].clone();
        let held = held.as_array().unwrap().iter();
        let keys: Vec<_> = held.map(|failure| failure["someKeys"].clone()).collect();
        let expected: Vec<_> = subjects.iter().map(|subject| json!([subject])).collect();
        (keys == expected).then_some(())
    })
    .await;
}

async fn lend(library: &Library) -> Uuid {
    let (id, reader) = (Uuid::new_v4(), Uuid::new_v4());
    let send = async |path: &str, body: Value, status| {
        let answer = post(&format!("{}{path}", library.url), body.to_string()).await;
        assert_eq!(answer.status(), status);
    };
    let ada = json!({ "id": reader, "name": "Ada" });
    send("/readers/register", ada, StatusCode::CREATED).await;
    send("/books/purchase", book(id), StatusCode::CREATED).await;
    let loan = json!({ "id": id, "reader": reader });
    send("/books/borrow", loan, StatusCode::OK).await;
    id
}

/// Waits until the loan of a copy is reported, once.
async fn reported(library: &Library, copy: Uuid) {
    let subject = format!("/books/{copy}");
    let reports = async || {
        let events = library.stored_events().await;
        let reports = events.iter().filter(|event| {
            event.subject.as_str() == subject
                && event.event_type.as_str().ends_with("LoanOverdueEvent")
        });
        reports.count()
    };
    eventually("the loan is reported", async || {
        (reports().await > 0).then_some(())
    })
    .await;
    assert_eq!(reports().await, 1);
}

#[tokio::test]
async fn an_operator_has_every_instance_and_every_start_leave_out_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, store_url) = start_event_store(folder.path(), 0);
    let state = format!("sqlite:{}", folder.path().join("state.sqlite").display());
    // A loan is overdue as soon as it begins.
    let settings = [("LOAN_DAYS", "0"), ("STATE_DATABASE_URL", state.as_str())];
    let start = || Library::with_store_and(&store_url, &settings);
    let (first, second) = (start(), start());
    let poisoned = format!("/books/{}", Uuid::new_v4());
    write_poison(&store_url, &poisoned).await;
    holds(&first, &[&poisoned]).await;
    holds(&second, &[&poisoned]).await;
    let elsewhere = second.said(&["reaction", "retry", "LoanReminder"], false);
    assert!(
        elsewhere.contains("another process does this work"),
        "{elsewhere}"
    );
    // Another copy is not affected.
    let copy = lend(&first).await;
    reported(&first, copy).await;
    let health = get(&format!("{}/actuator/health", first.url)).await;
    assert_eq!(json_of(health).await["status"], "UP");

    let said = |arguments: &[&str]| -> Value {
        let printed = first.said(&[&["reaction"], arguments].concat(), true);
        serde_json::from_str(&printed).unwrap()
    };
    let status = &said(&["status"])["LoanReminder"];
    assert!(status["position"].is_string(), "{status}");
    assert_eq!(
        status["held"]["failures"][0]["someKeys"],
        json!([poisoned]),
        "{status}"
    );
    for (command, released) in [("retry", 0), ("skip", 1)] {
        let reply = said(&[command, "LoanReminder"]);
        assert_eq!(reply["reaction"], "LoanReminder");
        assert_eq!(reply["retriedKeys"], 1, "{reply}");
        assert_eq!(reply["releasedKeys"], released, "{reply}");
    }
    holds(&first, &[]).await;
    holds(&second, &[]).await;
    let log = first.process.log();
    assert!(log.contains("an operator commands a reaction"), "{log}");
    let logs = [log, second.process.log()];
    let mut logs = logs.iter();
    assert!(logs.any(|log| log.contains("a reaction holds a subject")));

    let nothing = first.said(&["reaction", "skip", "LoanReminder"], false);
    assert!(nothing.contains("has not stopped"), "{nothing}");
    let unknown = first.said(&["reaction", "retry", "Cups"], false);
    assert!(unknown.contains("no reaction named Cups"), "{unknown}");

    assert!(first.process.stop().success());
    assert!(second.process.stop().success());
    let third = start();
    let copy = lend(&third).await;
    reported(&third, copy).await;
    holds(&third, &[]).await;
}
