//! No two readers have the same card, whoever registers them, where and how often.

use std::{fs, sync::Arc};

use crate::{
    operations::failed_start::refusal,
    support::{Library, TOKEN, client, get, json_of, post, postgres_server::PostgresServer},
};
use es_framework::{
    event::EventCandidate,
    store::{EventLog as _, postgres::PostgresStore},
};
use reqwest::StatusCode;
use serde_json::{Value, json, value::to_raw_value};
use uuid::Uuid;

/// Registers a new reader, and returns the id and the answer.
async fn register(library: &Library, card: &str) -> (Uuid, StatusCode, Value) {
    let id = Uuid::new_v4();
    let body = json!({ "id": id, "name": "Ada", "card": card });
    let url = format!("{}/readers/register", library.url);
    let answer = post(&url, body.to_string()).await;
    let status = answer.status();
    let problem = if status == StatusCode::CREATED {
        Value::Null
    } else {
        json_of(answer).await
    };
    (id, status, problem)
}

async fn is_taken(library: &Library, card: &str) -> bool {
    register(library, card).await.1 == StatusCode::CONFLICT
}

/// Registers 64 readers at once, on these instances in turn. One of them gets the card.
async fn only_one_wins(libraries: &[&Library], card: &str) {
    let attempts = (0..64).map(|number| register(libraries[number % libraries.len()], card));
    let answers = futures_util::future::join_all(attempts).await;
    let won = answers
        .iter()
        .filter(|(_, status, _)| *status == StatusCode::CREATED);
    assert_eq!(won.count(), 1);
    for (_, status, problem) in answers {
        if status != StatusCode::CREATED {
            assert_eq!(
                problem["type"], "tag:es-framework,2026:problem:not-unique",
                "{problem}"
            );
        }
    }
}

#[tokio::test]
async fn a_card_that_is_taken_is_refused_without_telling_whose_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    let (owner, status, _) = register(&library, "Card-77").await;
    assert_eq!(status, StatusCode::CREATED);
    for spelling in ["Card-77", " card-77 ", "CARD-７７"] {
        let (_, status, problem) = register(&library, spelling).await;
        assert_eq!(status, StatusCode::CONFLICT, "{spelling}");
        assert_eq!(problem["type"], "tag:es-framework,2026:problem:not-unique");
        assert_eq!(problem["errors"][0]["pointer"], "/card");
        let text = problem.to_string();
        assert!(text.contains("reader-card"), "{text}");
        assert!(
            !text.contains(&owner.to_string()) && !text.contains("77"),
            "{text}"
        );
    }
    for _ in 0..2 {
        let body = json!({ "id": Uuid::new_v4(), "name": "Without a card" });
        let url = format!("{}/readers/register", library.url);
        assert_eq!(
            post(&url, body.to_string()).await.status(),
            StatusCode::CREATED
        );
    }
    // The claim is as durable as its event.
    assert!(library.process.stop().success());
    let library = Library::embedded(&folder.path().join("data"));
    assert!(is_taken(&library, "CARD-77").await);
    assert!(!is_taken(&library, "card-78").await);
}

#[tokio::test]
async fn one_of_64_concurrent_readers_gets_the_card_on_two_instances_with_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let settings = [("DATABASE_URL", url.as_str()), ("KEY_STORE_URL", &url)];
    let one = Library::with_store_and(&url, &settings);
    let other = Library::with_store_and(&url, &settings);
    only_one_wins(&[&one, &other], "1").await;
    assert!(is_taken(&one, "1").await && is_taken(&other, "1").await);
}

#[tokio::test]
async fn the_card_of_an_erased_reader_is_free_again() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    let (erased, ..) = register(&library, "1").await;
    register(&library, "2").await;
    let subject = format!("/readers/{erased}");
    library.said(&["personal", "erase", &subject, "--yes"], true);
    assert!(!is_taken(&library, "1").await);
    assert!(is_taken(&library, "1").await && is_taken(&library, "2").await);
    let reader = get(&format!("{}{subject}", library.url)).await;
    assert_eq!(json_of(reader).await["name"], "erased reader");
}

/// Records a reader as a release does that knows no rules, and returns the id.
async fn record_without_claim(library: &Library, card: &str) -> Uuid {
    let id = Uuid::new_v4();
    let event = json!({
        "source": "tag:library-service",
        "subject": format!("/readers/{id}"),
        "type": "com.example.library.ReaderRegisteredEvent",
        "data": { "metadata": {}, "payload": { "id": id, "name": "Ada", "card": card } },
    });
    let written = client()
        .post(format!("{}/api/v1/write-events", library.store_url))
        .bearer_auth(TOKEN)
        .header("content-type", "application/json")
        .body(json!({ "events": [event] }).to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(written.status(), StatusCode::OK);
    id
}

#[tokio::test]
async fn an_operator_claims_the_cards_of_earlier_events() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    for card in ["1", "2", " 1 "] {
        record_without_claim(&library, card).await;
    }
    let said = library.said(&["unique", "claim"], true);
    assert!(
        said.contains("is taken, by the rule reader-card") && said.contains("2 subjects"),
        "{said}"
    );
    assert!(is_taken(&library, "1").await && is_taken(&library, "2").await);
    let said = library.said(&["unique", "claim"], true);
    assert!(said.contains("0 subjects"), "{said}");
}

#[tokio::test]
async fn a_run_that_was_interrupted_goes_on_with_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let settings = [("DATABASE_URL", url.as_str()), ("KEY_STORE_URL", &url)];
    let mut library = Library::with_store_and(&url, &settings);
    // As they were recorded by a release without the rule. The last two have cards of others.
    let cards = (0..101).map(|number| number.to_string());
    let cards = cards.chain(["7", "100"].map(str::to_owned));
    let earlier = cards.map(|card| {
        let id = Uuid::new_v4();
        let payload = json!({ "id": id, "name": "Ada", "card": card });
        EventCandidate {
            source: Arc::from("tag:library-service"),
            subject: format!("/readers/{id}").parse().unwrap(),
            event_type: "com.example.library.ReaderRegisteredEvent".parse().unwrap(),
            data: to_raw_value(&json!({ "metadata": {}, "payload": payload })).unwrap(),
            trace: None,
        }
    });
    let store = PostgresStore::open(url.parse().unwrap()).await.unwrap();
    let recorded = store.append(earlier.collect(), vec![]).await.unwrap();
    let path = format!("{}/actuator/unique-values/claim", library.url);
    let step = client().post(path).bearer_auth(TOKEN).send().await.unwrap();
    let step = json_of(step).await;
    assert_eq!(step["claimed"], 100, "{step}");
    assert_eq!(step["isComplete"], false, "{step}");
    library.process.kill();
    let library = Library::with_store_and(&url, &settings);
    let last = recorded[99].id.to_string();
    assert_eq!(step["last"], last.as_str());
    let said = library.said(&["unique", "claim", "--after", &last], true);
    let taken = said.matches("is taken, by the rule reader-card").count();
    assert!(taken == 2 && said.contains("1 subjects"), "{said}");
    let said = library.said(&["unique", "claim"], true);
    assert!(said.contains("0 subjects"), "{said}");
    assert!(is_taken(&library, "0").await && is_taken(&library, "100").await);
}

#[tokio::test]
async fn the_cards_of_erased_readers_are_not_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    let erased = record_without_claim(&library, "1").await;
    let subject = format!("/readers/{erased}");
    library.said(&["personal", "erase", &subject, "--yes"], true);
    let said = library.said(&["unique", "claim"], true);
    assert!(said.contains("0 subjects"), "{said}");
    assert!(!is_taken(&library, "1").await);
}

#[tokio::test]
async fn a_start_without_the_key_of_the_claims_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    register(&library, "1").await;
    assert!(library.process.stop().success());
    // The database and its write-ahead log.
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap().path();
        if file.to_string_lossy().contains("data.keys.sqlite") {
            fs::remove_file(file).unwrap();
        }
    }
    let text = refusal(&folder.path().join("data"), &[]);
    assert!(text.contains("KEY_STORE_URL"), "{text}");
}
