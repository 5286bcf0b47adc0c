//! A library whose files are all in one folder, on each engine, and the readers in its events.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use es_framework::{
    event::{EventCandidate, EventDescriptor, EventType, Metadata, encode_event},
    personal::{KeyStore as _, PersonKeys, PersonalEvents, PersonalStore, SqlKeyStore, StoredKey},
    prelude::Event,
    projection::DatabaseUrl,
    store::{
        EventLog as _, EventStore,
        eventsourcingdb::{ClientSettings, EventSourcingDbStore},
        postgres::PostgresStore,
        sqlite::EmbeddedStore,
    },
};
use reqwest::StatusCode;
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use super::personal_data::event_store;
use crate::support::{
    Library, Process, TOKEN, client, eventually, get, json_of, postgres_server::PostgresServer,
    start_event_store,
};

pub(super) const ERASED: &str = "erased reader";

/// The event of the library, which the test appends without it.
#[derive(Event)]
#[event(package = "com.example.library")]
pub(super) struct ReaderRegisteredEvent {
    pub(super) id: Uuid,
    #[personal(of = id, erased = "erased reader")]
    pub(super) name: String,
}

/// A reader whose names all contain a text of their own.
pub(super) struct Reader {
    pub(super) id: Uuid,
    token: String,
}

impl Reader {
    pub(super) fn new() -> Self {
        let id = Uuid::new_v4();
        let token = format!("Name{}", Uuid::new_v4().simple());
        Self { id, token }
    }

    pub(super) fn name(&self, number: usize) -> String {
        format!("{}-{number}", self.token)
    }

    pub(super) fn candidate(&self, number: usize) -> EventCandidate {
        let (id, name) = (self.id, self.name(number));
        EventCandidate {
            source: "library-service".into(),
            subject: format!("/readers/{id}").parse().unwrap(),
            event_type: EventType::declared(ReaderRegisteredEvent::TYPE),
            data: encode_event(&Metadata::default(), &ReaderRegisteredEvent { id, name }).unwrap(),
            trace: None,
        }
    }
}

/// The event store under test.
pub(super) enum Engine {
    Embedded,
    Postgres(PostgresServer),
    /// The program `event-store` with its URL, while it runs.
    Server(Option<(Process, String)>),
}

/// A step of an erasure, after which the library is killed.
#[derive(Debug, Clone, Copy)]
pub(super) enum ErasureStep {
    Requested,
    KeyDestroyed,
    Announced,
    RowsReplaced,
    Finished,
}

pub(super) const STEPS: [ErasureStep; 5] = [
    ErasureStep::Requested,
    ErasureStep::KeyDestroyed,
    ErasureStep::Announced,
    ErasureStep::RowsReplaced,
    ErasureStep::Finished,
];

/// A library whose files are all in one folder.
pub(super) struct Site {
    folder: TempDir,
    engine: Engine,
    keys: SqlKeyStore,
}

impl Site {
    pub(super) async fn new(engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::File(folder.path().join("keys.sqlite"));
        let keys = SqlKeyStore::open(&url).await.unwrap();
        Self {
            folder,
            engine,
            keys,
        }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn sqlite(&self, name: &str) -> String {
        format!("sqlite:{}", self.file(name).display())
    }

    pub(super) fn rows(&self) -> String {
        match &self.engine {
            Engine::Postgres(server) => server.url(),
            _ => self.sqlite("rows.sqlite"),
        }
    }

    pub(super) fn start(&self, rows: &str) -> Library {
        let keys = self.sqlite("keys.sqlite");
        let settings = [("KEY_STORE_URL", keys.as_str()), ("DATABASE_URL", rows)];
        match &self.engine {
            Engine::Postgres(server) => Library::with_store_and(&server.url(), &settings),
            Engine::Server(Some((_, url))) => Library::with_store_and(url, &settings),
            Engine::Embedded | Engine::Server(None) => self.start_embedded("data", rows),
        }
    }

    /// Starts a library with an embedded event store.
    pub(super) fn start_embedded(&self, data: &str, rows: &str) -> Library {
        let keys = self.sqlite("keys.sqlite");
        let settings = [("KEY_STORE_URL", keys.as_str()), ("DATABASE_URL", rows)];
        Library::embedded_with(&self.file(data), &settings)
    }

    pub(super) fn start_server(&mut self) {
        let data = self.file("data");
        if let Engine::Server(server) = &mut self.engine {
            *server = Some(start_event_store(&data, 0));
        }
    }

    pub(super) fn stop_server(&mut self) {
        if let Engine::Server(server) = &mut self.engine {
            let (process, _) = server.take().unwrap();
            assert!(process.stop().success());
        }
    }

    /// Opens the event store without the library, which must not run if the store is embedded.
    pub(super) async fn open(&self) -> PersonalStore {
        let store: Arc<dyn EventStore> = match &self.engine {
            Engine::Embedded | Engine::Server(None) => {
                Arc::new(EmbeddedStore::open(&self.file("data")).unwrap())
            }
            Engine::Postgres(server) => Arc::new(
                PostgresStore::open(server.url().parse().unwrap())
                    .await
                    .unwrap(),
            ),
            Engine::Server(Some((_, url))) => {
                Arc::new(EventSourcingDbStore::new(ClientSettings::new(url, TOKEN)).unwrap())
            }
        };
        let events = PersonalEvents::select(&[EventDescriptor::of::<ReaderRegisteredEvent>()]);
        let keys = PersonKeys::new(Arc::new(self.keys.clone()));
        PersonalStore::new(store, events, keys)
    }

    pub(super) async fn fill(&self, readers: &[Reader], events_each: usize) {
        let store = self.open().await;
        for number in 0..events_each {
            let events = readers.iter().map(|reader| reader.candidate(number));
            store.append(events.collect(), Vec::new()).await.unwrap();
        }
    }

    /// The arguments of `event-store` that name the events, when no program writes them.
    fn store_arguments(&self) -> Vec<String> {
        match &self.engine {
            Engine::Postgres(server) => vec!["--engine".into(), server.url()],
            _ => vec![
                "--data-directory".into(),
                self.file("data").display().to_string(),
            ],
        }
    }

    pub(super) fn event_store(&self, subcommand: &str, more: &[&str]) -> String {
        let arguments = [vec![subcommand.to_owned()], self.store_arguments()].concat();
        let mut arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        arguments.extend(more);
        event_store(&arguments, self.folder.path())
    }

    /// Restores the backup into a new data folder.
    pub(super) fn restore(&self) {
        let input = [
            "restore",
            "--input",
            "library.backup",
            "--data-directory",
            "restored",
        ];
        event_store(&input, self.folder.path());
    }

    /// Returns the files that contain one of the texts.
    pub(super) fn files_with(&self, readers: &[Reader]) -> String {
        let patterns = tempfile::NamedTempFile::new().unwrap();
        let tokens: Vec<_> = readers.iter().map(|reader| reader.token.as_str()).collect();
        fs::write(patterns.path(), tokens.join("\n")).unwrap();
        let mut grep = Command::new("grep");
        grep.args([
            "--recursive",
            "--text",
            "--files-with-matches",
            "--fixed-strings",
        ]);
        grep.arg("--file")
            .arg(patterns.path())
            .arg(self.folder.path());
        if let Engine::Postgres(server) = &self.engine {
            // The rest of dropped tables and statistics, as the how-to page says.
            server.query("VACUUM FULL");
            server.query("CHECKPOINT");
            let data = server.query("SHOW data_directory");
            grep.arg(Path::new(data.trim()).join("base"));
        }
        let output = grep.output().unwrap();
        assert!(
            output.status.code().is_some_and(|code| code < 2),
            "{output:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until an erasure has done a step.
    pub(super) async fn reaches(&self, step: ErasureStep, reader: &Reader, library: &Library) {
        eventually(&format!("{step:?} of an erasure"), async || {
            let is_done = match step {
                ErasureStep::Requested => true,
                ErasureStep::KeyDestroyed => {
                    let known = self.keys.find(vec![reader.id]).await.unwrap();
                    known.get(&reader.id) == Some(&StoredKey::Erased)
                }
                ErasureStep::Announced => self.is_announced(reader, library).await,
                ErasureStep::RowsReplaced => {
                    name_of(library, reader.id).await.as_deref() == Some(ERASED)
                }
                ErasureStep::Finished => {
                    let open = self.keys.unfinished_erasures().await.unwrap();
                    !open.contains(&reader.id)
                        && name_of(library, reader.id).await.as_deref() == Some(ERASED)
                }
            };
            is_done.then_some(())
        })
        .await;
    }

    async fn is_announced(&self, reader: &Reader, library: &Library) -> bool {
        let subject = format!("/es-framework/personal-data/{}", reader.id);
        if let Engine::Postgres(server) = &self.engine {
            let count = format!("SELECT count(*) FROM es_events WHERE subject = '{subject}'");
            return server.query(&count).trim() != "0";
        }
        let body = json!({ "subject": subject, "options": { "recursive": false } });
        let request = client().post(format!("{}/api/v1/read-events", library.store_url));
        let request = request.header("content-type", "application/json");
        let answer = request
            .bearer_auth(TOKEN)
            .body(body.to_string())
            .send()
            .await;
        !answer.unwrap().text().await.unwrap().is_empty()
    }
}

pub(super) async fn name_of(library: &Library, id: Uuid) -> Option<String> {
    let answer = get(&format!("{}/readers/{id}", library.url)).await;
    if answer.status() != StatusCode::OK {
        return None;
    }
    json_of(answer).await["name"].as_str().map(str::to_owned)
}

pub(super) async fn has_name(library: &Library, id: Uuid, name: &str) {
    eventually(&format!("{id} is called {name}"), async || {
        (name_of(library, id).await.as_deref() == Some(name)).then_some(())
    })
    .await;
}

/// Requests an erasure as an operator does: again, if it fails. The test shows the reasons if it fails.
pub(super) async fn repeat_erasure(url: String, id: Uuid) {
    loop {
        let answer = request_erasure(url.clone(), id).await;
        if answer.as_ref().is_some_and(|it| it["done"].is_array()) {
            return;
        }
        println!("an erasure is requested again: {answer:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

pub(super) async fn request_erasure(url: String, id: Uuid) -> Option<serde_json::Value> {
    let url = format!("{url}/actuator/personal-data/erase?subject=/readers/{id}");
    let answer = client().post(url).bearer_auth(TOKEN).send().await.ok()?;
    Some(json_of(answer).await)
}
