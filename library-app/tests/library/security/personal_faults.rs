//! Personal data when something is broken: an instance that dies, a value that does not open, keys that cannot be stored.

use std::fs;

use es_framework::{
    personal::{KeyStore as _, SqlKeyStore},
    projection::DatabaseUrl,
};
use reqwest::StatusCode;
use rusqlite::Connection;
use serde_json::{Value, json};
use uuid::Uuid;

use super::personal_data::{ERASED, Folder, Person};
use crate::support::{
    Library, TOKEN, book, client, eventually, get, json_of, post, postgres_server::PostgresServer,
};

fn verification(library: &Library, person: &Person) -> Value {
    let said = library.said(&["personal", "verify", &person.subject()], true);
    serde_json::from_str(&said).unwrap()
}

/// The other instance has rows of its own, which only it can rebuild.
#[tokio::test]
async fn an_erasure_of_an_instance_that_is_killed_is_completed_by_the_other_one() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let settings = |rows| [("DATABASE_URL", rows), ("KEY_STORE_URL", url.as_str())];
    let mut killed = Library::with_store_and(&url, &settings(&url));
    let other = Library::with_store_and(&url, &settings("sqlite::memory:"));
    let person = Person::new();
    person.register(&killed).await;
    person.is_called(&other, &person.name).await;
    killed.process.kill();
    // The state right after the key was destroyed.
    let keys = SqlKeyStore::open(&DatabaseUrl::Postgres(url))
        .await
        .unwrap();
    keys.erase(person.id).await.unwrap();
    let before = verification(&other, &person);
    assert_eq!(before["isErased"], false, "{before}");
    let name = format!("{}{}", other.url, person.subject());
    eventually("nothing of the person is left", async || {
        let verified = verification(&other, &person);
        let is_erased = verified["isErased"] == true;
        // It never says so before the name is gone.
        if is_erased {
            assert_eq!(json_of(get(&name).await).await["name"], ERASED);
        }
        is_erased.then_some(())
    })
    .await;
}

/// Writes an event as another program would.
async fn write_foreign(library: &Library, subject: &str, event_type: &str, data: &Value) {
    let event =
        json!({ "source": "tag:other", "subject": subject, "type": event_type, "data": data });
    let request = client().post(format!("{}/api/v1/write-events", library.store_url));
    let request = request
        .bearer_auth(TOKEN)
        .header("content-type", "application/json");
    let answer = request
        .body(json!({ "events": [event] }).to_string())
        .send();
    let answer = answer.await.unwrap();
    assert!(
        answer.status().is_success(),
        "{}",
        answer.text().await.unwrap()
    );
}

#[tokio::test]
async fn a_sealed_value_that_does_not_open_holds_its_own_row_and_nothing_else() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let (first, later, copy) = (Person::new(), Person::new(), Uuid::new_v4());
    first.register(&library).await;
    first.is_called(&library, &first.name).await;
    let lines = library.stored_lines().await;
    let stored = lines.iter().map(|line| &line["payload"]["event"]);
    let registered = stored
        .clone()
        .find(|event| event["subject"] == first.subject());
    let registered = registered.unwrap_or_else(|| {
        let events = lines.iter().map(|line| &line["payload"]);
        let mut events = events.filter(|event| event["subject"] == first.subject());
        events.next().unwrap()
    });
    let (event_type, data) = (registered["type"].as_str().unwrap(), &registered["data"]);
    let moved = Uuid::new_v4();
    write_foreign(&library, &format!("/readers/{moved}"), event_type, data).await;
    let mut unknown = data.clone();
    unknown["payload"]["name"]["$sealed"]["of"] = json!(Uuid::new_v4());
    for (subject, event_type) in [
        ("/elsewhere", "com.other.Noted"),
        ("/readers/x/notes", "com.other.Noted"),
    ] {
        write_foreign(&library, subject, event_type, &unknown).await;
    }
    let works = async |library: &Library, person: &Person| {
        assert_eq!(person.register(library).await, StatusCode::CREATED);
        person.is_called(library, &person.name).await;
        let answer = get(&format!("{}/books", library.url)).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let (status, health) = library.health().await;
        let text = health.to_string();
        assert!(
            text.contains("does not open") && text.contains(&moved.to_string()),
            "{status} {text}"
        );
    };
    assert!(library.purchase(&book(copy)).await.status().is_success());
    works(&library, &later).await;
    assert!(library.process.stop().success());
    let library = folder.start("data", &[]);
    works(&library, &Person::new()).await;
    first.is_called(&library, &first.name).await;
    library.said(&["personal", "erase", &first.subject(), "--yes"], true);
    first.is_called(&library, ERASED).await;
}

#[tokio::test]
async fn what_is_no_person_is_not_erased() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let copy = Uuid::new_v4();
    assert!(library.purchase(&book(copy)).await.status().is_success());
    let subject = format!("/books/{copy}");
    let said = library.said(&["personal", "erase", &subject, "--yes"], false);
    assert!(said.contains("no event holds personal data"), "{said}");
    for verb in ["erase", "verify"] {
        let url = format!(
            "{}/actuator/personal-data/{verb}?subject={subject}",
            library.url
        );
        let request = if verb == "erase" {
            client().post(url)
        } else {
            client().get(url)
        };
        let answer = request.bearer_auth(TOKEN).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{verb}");
    }
}

/// Registers somebody, and asserts that the answer and the health check name the key store.
async fn keys_are_away(library: &Library, reason: &str) {
    let person = Person::new();
    let body = json!({ "id": person.id, "name": person.name }).to_string();
    let answer = post(&format!("{}/readers/register", library.url), body).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let problem = json_of(answer).await;
    let kind = "tag:es-framework,2026:problem:key-store-unavailable";
    assert_eq!(problem["type"], kind, "{problem}");
    let (status, health) = library.health().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let keys = &health["components"]["keystore"];
    assert_eq!(keys["status"], "DOWN", "{health}");
    assert!(keys.to_string().contains(reason), "{keys}");
    assert_eq!(
        health["components"]["eventstore"]["status"], "UP",
        "{health}"
    );
}

#[tokio::test]
async fn a_key_store_that_is_locked_or_gone_is_told_by_its_name() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    assert_eq!(Person::new().register(&library).await, StatusCode::CREATED);
    let file = folder.path().join("keys.sqlite");
    let lock = Connection::open(&file).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    keys_are_away(&library, "no answer within 3 s").await;
    drop(lock);
    assert_eq!(Person::new().register(&library).await, StatusCode::CREATED);
    fs::rename(&file, folder.path().join("moved.sqlite")).unwrap();
    keys_are_away(&library, "was removed or replaced").await;
}

/// A data folder without a name of its own has the keys beside it as well.
#[tokio::test]
async fn keys_never_lie_in_the_folder_of_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let start = |keys: Option<&str>| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_library-app"));
        command
            .current_dir(&data)
            .env_remove("KEY_STORE_URL")
            .env("HTTP_PORT", "0");
        command
            .env("EVENT_STORE_PORT", "0")
            .env("EVENT_STORE_DATA_DIR", ".");
        command.envs(keys.map(|keys| ("KEY_STORE_URL", keys)));
        command
    };
    for inside in ["sqlite:keys.sqlite", "sqlite:./deep/../keys.sqlite"] {
        fs::create_dir_all(data.join("deep")).unwrap();
        let refused = start(Some(inside)).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success() && said.contains("KEY_STORE_URL"),
            "{said}"
        );
    }
    let mut child = start(None)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    eventually("the keys are beside the folder", async || {
        folder
            .path()
            .join("data.keys.sqlite")
            .exists()
            .then_some(())
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();
}
