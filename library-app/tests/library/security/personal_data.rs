//! Readers are erased while the library runs, is killed, and is restored: their names are nowhere, and nothing else
//! is lost.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::support::{
    Library, book, client, event_store_program, eventually, get, json_of, post,
    postgres_server::PostgresServer,
};
use es_framework::{
    personal::{KeyStore as _, SqlKeyStore},
    projection::DatabaseUrl,
};
use reqwest::StatusCode;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

pub(super) const ERASED: &str = "erased reader";

/// A library whose files are all in one folder.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn start(&self, data: &str, more: &[(&str, &str)]) -> Library {
        let file = |name: &str| format!("sqlite:{}", self.path().join(name).display());
        let (keys, rows) = (file("keys.sqlite"), file("rows.sqlite"));
        let mut settings = vec![("KEY_STORE_URL", keys.as_str()), ("DATABASE_URL", &rows)];
        settings.extend(more);
        Library::embedded_with(&self.path().join(data), &settings)
    }
}

/// A reader with a name that nothing else contains.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) id: Uuid,
    pub(super) name: String,
}

impl Person {
    pub(super) fn new() -> Self {
        let id = Uuid::new_v4();
        let name = format!("Name{}", Uuid::new_v4().simple());
        Self { id, name }
    }

    pub(super) fn subject(&self) -> String {
        format!("/readers/{}", self.id)
    }

    pub(super) async fn register(&self, library: &Library) -> StatusCode {
        let body = json!({ "id": self.id, "name": self.name });
        let request = client().post(format!("{}/readers/register", library.url));
        let request = request.header("content-type", "application/json");
        let request = request.header("idempotency-key", self.id.to_string());
        let answer = request.body(body.to_string()).send().await.unwrap();
        answer.status()
    }

    fn erase(&self, library: &Library) -> String {
        library.said(&["personal", "erase", &self.subject(), "--yes"], true)
    }

    pub(super) async fn is_called(&self, library: &Library, name: &str) {
        let url = format!("{}{}", library.url, self.subject());
        eventually("the name is read", async || {
            let answer = get(&url).await;
            let is_called =
                answer.status() == StatusCode::OK && json_of(answer).await["name"] == name;
            is_called.then_some(())
        })
        .await;
    }

    /// Asserts that no file below the folder contains the name.
    fn is_in_no_file(&self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.is_in_no_file(&path);
            } else if let Ok(bytes) = fs::read(&path) {
                let name = self.name.as_bytes();
                let is_in = bytes.windows(name.len()).any(|window| window == name);
                assert!(!is_in, "{} contains {}", path.display(), self.name);
            }
        }
    }
}

pub(super) fn event_store(arguments: &[&str], folder: &Path) -> String {
    let mut command = Command::new(event_store_program());
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

#[tokio::test]
async fn a_start_completes_an_erasure_without_being_told() {
    let folder = Folder::new();
    let mut library = folder.start("data", &[]);
    let person = Person::new();
    person.register(&library).await;
    person.is_called(&library, &person.name).await;
    library.process.kill();
    // The state right after the key was destroyed.
    let url = DatabaseUrl::File(folder.path().join("keys.sqlite"));
    let keys = SqlKeyStore::open(&url).await.unwrap();
    keys.erase(person.id).await.unwrap();
    drop(keys);
    let library = folder.start("data", &[]);
    person.is_called(&library, ERASED).await;
    eventually("the erasure is announced", async || {
        let events = library.stored_lines().await;
        let text = Value::from(events).to_string();
        text.contains("io.es-framework.PersonalDataErasedEvent")
            .then_some(())
    })
    .await;
    eventually("the rows are clean", async || {
        let bytes = fs::read(folder.path().join("rows.sqlite")).unwrap();
        let name = person.name.as_bytes();
        let is_clean = !bytes.windows(name.len()).any(|window| window == name);
        is_clean.then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_instance_that_was_down_finds_out_which_readers_were_erased() {
    let folder = Folder::new();
    let person = Person::new();
    let library = folder.start("data", &[]);
    person.register(&library).await;
    person.is_called(&library, &person.name).await;
    assert!(library.process.stop().success());
    // Another instance, with read models and snapshots of its own.
    let other = folder.path().join("other-snapshots.sqlite");
    let other = [
        ("DATABASE_URL", "sqlite::memory:"),
        ("SNAPSHOT_FILE", other.to_str().unwrap()),
    ];
    let library = folder.start("data", &other);
    person.is_called(&library, &person.name).await;
    person.erase(&library);
    assert!(library.process.stop().success());
    let holds_name = || {
        let files = ["rows.sqlite", "rows.sqlite-wal"];
        let files = files.map(|file| fs::read(folder.path().join(file)).unwrap_or_default());
        let name = person.name.as_bytes();
        let mut parts = files.iter().flat_map(|bytes| bytes.windows(name.len()));
        parts.any(|window| window == name)
    };
    assert!(holds_name());
    let library = folder.start("data", &[]);
    eventually("the rows of the first instance are clean", async || {
        (!holds_name()).then_some(())
    })
    .await;
    person.is_called(&library, ERASED).await;
    assert!(library.process.stop().success());
    person.is_in_no_file(folder.path());
}

#[tokio::test]
async fn an_export_has_events_and_rows_and_a_search_says_where_a_name_is() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let (person, copy) = (Person::new(), Uuid::new_v4());
    person.register(&library).await;
    assert!(library.purchase(&book(copy)).await.status().is_success());
    let borrow = json!({ "id": copy, "reader": person.id }).to_string();
    let borrowed = post(&format!("{}/books/borrow", library.url), borrow).await;
    assert!(borrowed.status().is_success());
    person.is_called(&library, &person.name).await;
    let act = |arguments: &[&str]| {
        let all = [&["personal"][..], arguments].concat();
        library.said(&all, true)
    };
    let subject = &*person.subject();
    let rows = eventually("the export has all rows", async || {
        let exported: Value = serde_json::from_str(&act(&["export", subject])).unwrap();
        let rows = exported["readModels"].as_array()?.clone();
        assert!(exported["linkedEvents"].as_array()?.len() >= 2);
        (rows.len() == 3).then_some(rows)
    })
    .await;
    let names: Vec<_> = rows.iter().map(|rows| &rows["readModel"]).collect();
    assert_eq!(names, ["book_copies", "open_loans", "readers"]);
    assert_eq!(rows[2]["rows"][0]["name"], person.name.as_str());
    let found: Value = serde_json::from_str(&act(&["find", subject])).unwrap();
    assert_eq!(
        found["readModels"][2],
        json!({ "readModel": "readers", "count": 1 })
    );

    let values = folder.path().join("values");
    fs::write(&values, &person.name).unwrap();
    let verify = ["verify", subject, "--values", values.to_str().unwrap()];
    // The values are still there, so the command fails after the report.
    let before = library.said(&[&["personal"][..], &verify].concat(), false);
    assert!(before.contains("rows of readers"), "{before}");
    let erased: Value = serde_json::from_str(&act(&["erase", subject, "--yes"])).unwrap();
    let after: Value = serde_json::from_str(&act(&verify)).unwrap();
    for verification in [&erased["verification"], &after] {
        assert_eq!(verification["isErased"], true, "{verification}");
        assert_eq!(verification["found"], json!([]), "{verification}");
        let searched = verification["searched"].to_string();
        for place in ["events", "snapshots", "rows of readers"] {
            assert!(searched.contains(place), "{searched}");
        }
    }
    let log = library.process.log();
    assert!(!log.contains(&person.name), "{log}");
}

#[tokio::test]
async fn a_verification_that_is_not_complete_says_so_and_fails() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let person = Person::new();
    person.register(&library).await;
    let mut title = String::new();
    for _ in 0..101 {
        let bought = book(Uuid::new_v4());
        title = bought["title"].as_str().unwrap().to_owned();
        assert!(library.purchase(&bought).await.status().is_success());
    }
    let values = folder.path().join("values");
    fs::write(&values, &title).unwrap();
    let subject = person.subject();
    let verify = [
        "personal",
        "verify",
        &subject,
        "--values",
        values.to_str().unwrap(),
    ];
    let many = library.said(&verify, false);
    assert!(many.contains("more events: 1"), "{many}");
    assert!(many.contains(r#""isComplete": false"#), "{many}");
    fs::write(&values, &person.name).unwrap();
    let found = library.said(&verify, false);
    assert!(found.contains("rows of readers"), "{found}");
    assert!(found.contains(r#""isComplete": true"#), "{found}");
}

#[tokio::test]
async fn nothing_more_of_an_erased_reader_is_stored() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let person = Person::new();
    assert_eq!(person.register(&library).await, StatusCode::CREATED);
    assert_eq!(person.register(&library).await, StatusCode::CREATED);
    person.erase(&library);
    // The outcome of the earlier request went with the reader.
    assert_eq!(person.register(&library).await, StatusCode::CONFLICT);
    // This one was erased before a registration.
    let person = Person::new();
    let url = DatabaseUrl::File(folder.path().join("keys.sqlite"));
    let keys = SqlKeyStore::open(&url).await.unwrap();
    keys.erase(person.id).await.unwrap();
    let body = json!({ "id": person.id, "name": person.name });
    let answer = post(
        &format!("{}/readers/register", library.url),
        body.to_string(),
    )
    .await;
    assert_eq!(answer.status(), StatusCode::CONFLICT);
    let problem = json_of(answer).await;
    assert_eq!(
        problem["type"],
        "tag:es-framework,2026:problem:erased-person"
    );
    assert!(!problem.to_string().contains(&person.name));
}

#[tokio::test]
async fn operators_find_and_export_and_verify() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let person = Person::new();
    person.register(&library).await;
    let act = |verb| {
        let text = library.said(&["personal", verb, &person.subject()], true);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert!(!act("find").to_string().contains(&person.name));
    assert_eq!(act("export")["events"][0]["value"], person.name);
    assert_eq!(act("verify")["isErased"], false);
    person.erase(&library);
    assert_eq!(act("verify")["isErased"], true);
    assert!(!act("export").to_string().contains(&person.name));
    // Without --yes and without a terminal, nothing is erased.
    let said = library.said(&["personal", "erase", &person.subject()], false);
    assert!(said.contains("--yes"), "{said}");
    let nobody = library.said(&["personal", "find", "/readers/ada"], false);
    assert!(nobody.contains("UUID"), "{nobody}");
    let url = format!(
        "{}/actuator/personal-data/export?subject={}",
        library.url,
        person.subject()
    );
    assert_eq!(get(&url).await.status(), StatusCode::UNAUTHORIZED);
}

/// Returns the tables of the read models in which any column has this id.
fn tables_with(file: &Path, id: Uuid) -> BTreeSet<String> {
    let rows = rusqlite::Connection::open(file).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'";
    let mut tables = rows.prepare(tables).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let has_id = |table: &String| {
        let mut rows = rows.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = rows.column_count();
        let mut rows = rows.query([]).unwrap();
        let mut has_id = false;
        while let Some(row) = rows.next().unwrap() {
            has_id |= (0..columns).any(|column| match row.get_ref(column).unwrap() {
                ValueRef::Text(text) => text == id.to_string().as_bytes(),
                ValueRef::Blob(blob) => blob == id.as_bytes(),
                _ => false,
            });
        }
        has_id
    };
    tables.map(Result::unwrap).filter(has_id).collect()
}

#[tokio::test]
async fn the_read_models_link_a_reader_to_a_loan_until_the_copy_comes_back() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    let (person, copy) = (Person::new(), Uuid::new_v4());
    person.register(&library).await;
    library.purchase(&book(copy)).await;
    let rows = folder.path().join("rows.sqlite");
    let send = async |command: &str, body: Value| {
        let answer = post(
            &format!("{}/books/{command}", library.url),
            body.to_string(),
        )
        .await;
        assert_eq!(answer.status(), StatusCode::OK);
    };
    let are = async |expected: &[&str]| {
        eventually(&format!("the id is in {expected:?}"), async || {
            let tables = tables_with(&rows, person.id);
            tables.iter().eq(expected).then_some(())
        })
        .await;
    };
    send("borrow", json!({ "id": copy, "reader": person.id })).await;
    are(&["book_copies", "open_loans", "readers"]).await;
    send("return", json!({ "id": copy })).await;
    are(&["readers"]).await;
}

#[tokio::test]
async fn a_start_with_another_key_store_is_refused() {
    let folder = Folder::new();
    let library = folder.start("data", &[]);
    Person::new().register(&library).await;
    assert!(library.process.stop().success());
    let other = format!("sqlite:{}", folder.path().join("other.sqlite").display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    let command = command
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_DATA_DIR", folder.path().join("data"))
        .env("KEY_STORE_URL", other);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("KEY_STORE_URL"), "{said}");
}

#[tokio::test]
async fn two_instances_with_postgresql_erase_for_each_other() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url();
    let settings = [("DATABASE_URL", url.as_str()), ("KEY_STORE_URL", &url)];
    let one = Library::with_store_and(&url, &settings);
    let other = Library::with_store_and(&url, &settings);
    let (erased, kept) = (Person::new(), Person::new());
    erased.register(&one).await;
    kept.register(&other).await;
    for library in [&one, &other] {
        erased.is_called(library, &erased.name).await;
    }
    erased.erase(&other);
    for library in [&one, &other] {
        erased.is_called(library, ERASED).await;
        kept.is_called(library, &kept.name).await;
    }
}
