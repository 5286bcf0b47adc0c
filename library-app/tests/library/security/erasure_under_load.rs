//! Many readers are erased while others register, and the library is killed at each step of an erasure. Afterwards
//! the names of the erased are in no file and no table, and nothing else is lost.
//!
//! `ERASED_READERS=50` erases 50 of 200 readers among 20,000 events on each engine. The default is smaller.

use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use es_framework::store::{AppendError, EventLog as _, ReadOptions};
use futures_util::{StreamExt as _, future::join_all};
use reqwest::StatusCode;
use serde_json::json;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::erasure_site::{
    ERASED, Engine, ErasureStep, Reader, ReaderRegisteredEvent, STEPS, Site, has_name, name_of,
    repeat_erasure, request_erasure,
};
use crate::support::{Library, client, eventually, postgres_server::PostgresServer};

/// Readers who register all the time, also while the library is down.
struct Registrations {
    url: Arc<Mutex<String>>,
    registered: Arc<Mutex<Vec<Reader>>>,
    task: JoinHandle<()>,
}

impl Registrations {
    fn begin(library: &Library) -> Self {
        let url = Arc::new(Mutex::new(library.url.clone()));
        let registered: Arc<Mutex<Vec<Reader>>> = Arc::default();
        let (to, acknowledged) = (Arc::clone(&url), Arc::clone(&registered));
        let task = tokio::spawn(async move {
            loop {
                let reader = Reader::new();
                let body = json!({ "id": reader.id, "name": reader.name(0) });
                let url = format!("{}/readers/register", to.lock().unwrap());
                let request = client()
                    .post(url)
                    .header("content-type", "application/json");
                if let Ok(answer) = request.body(body.to_string()).send().await
                    && answer.status() == StatusCode::CREATED
                {
                    acknowledged.lock().unwrap().push(reader);
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        Self {
            url,
            registered,
            task,
        }
    }

    fn end(self) -> Vec<Reader> {
        self.task.abort();
        std::mem::take(&mut self.registered.lock().unwrap())
    }
}

/// Erases a reader. Afterwards nobody reads the name.
async fn erase(library: &Library, reader: &Reader) {
    eventually("the erasure reaches everything", async || {
        let report = request_erasure(library.url.clone(), reader.id).await?;
        (report["unreached"] == json!([])).then_some(())
    })
    .await;
    assert_eq!(name_of(library, reader.id).await.unwrap(), ERASED);
}

/// Erases readers under load. The library is killed in the first erasures, and restarted.
async fn erase_under_load(
    site: &Site,
    erased: &[Reader],
    logs: &mut String,
) -> (Library, Vec<Reader>) {
    let mut library = site.start(&site.rows());
    let registrations = Registrations::begin(&library);
    let (killed, others) = erased.split_at(STEPS.len());
    for (step, reader) in STEPS.into_iter().zip(killed) {
        let erasing = tokio::spawn(repeat_erasure(library.url.clone(), reader.id));
        site.reaches(step, reader, &library).await;
        library.process.kill();
        erasing.abort();
        logs.push_str(&library.process.log());
        library = site.start(&site.rows());
        library
            .url
            .clone_into(&mut registrations.url.lock().unwrap());
        if !matches!(step, ErasureStep::Requested) {
            // The start completes it.
            site.reaches(ErasureStep::Finished, reader, &library).await;
        }
        erase(&library, reader).await;
    }
    for together in others.chunks(3) {
        join_all(together.iter().map(|reader| erase(&library, reader))).await;
    }
    (library, registrations.end())
}

async fn erases_all(engine: Engine) {
    let count = std::env::var("ERASED_READERS").map_or(8, |count| count.parse().unwrap());
    let events_each = if count < 50 { 30 } else { 100 };
    let readers: Vec<_> = (0..4 * count).map(|_| Reader::new()).collect();
    let mut site = Site::new(engine).await;
    site.fill(&readers, events_each).await;
    site.event_store("backup", &["--output", "library.backup"]);
    site.start_server();
    let (erased, kept) = readers.split_at(count);
    let mut logs = String::new();
    let (library, registered) = erase_under_load(&site, erased, &mut logs).await;
    assert!(
        !registered.is_empty(),
        "readers register during the erasures"
    );
    let kept: Vec<_> = kept
        .iter()
        .map(|reader| (reader, reader.name(events_each - 1)))
        .collect();
    let others = registered.iter().map(|reader| (reader, reader.name(0)));
    let others: Vec<_> = others
        .chain(kept.iter().map(|(reader, name)| (*reader, name.clone())))
        .collect();
    let gone = erased
        .iter()
        .map(|reader| (reader.id, Some(ERASED.to_owned())));
    let named = others
        .iter()
        .map(|(reader, name)| (reader.id, Some(name.clone())));
    let expected: HashMap<_, _> = gone.chain(named).collect();
    assert_eq!(read_names(&library, &others, &expected).await, expected);
    logs.push_str(&library.process.log());
    assert!(library.process.stop().success());

    // Rows that are built from nothing equal those that ran on.
    let library = site.start("sqlite::memory:");
    assert_eq!(read_names(&library, &others, &expected).await, expected);
    logs.push_str(&library.process.log());
    assert!(library.process.stop().success());

    check_events(&site, erased, &kept, events_each).await;
    site.stop_server();
    let said = site.event_store("verify", &[]);
    assert!(said.contains("whole"), "{said}");
    fs::write(site.file("library.log"), logs).unwrap();
    assert_eq!(site.files_with(erased), "");

    // A restored backup does not revive a person.
    site.restore();
    let library = site.start_embedded("restored", "sqlite::memory:");
    for (reader, name) in &kept {
        has_name(&library, reader.id, name).await;
    }
    for reader in erased {
        has_name(&library, reader.id, ERASED).await;
    }
}

/// Returns the names of these readers, once the rows have those of the others.
async fn read_names(
    library: &Library,
    others: &[(&Reader, String)],
    readers: &HashMap<Uuid, Option<String>>,
) -> HashMap<Uuid, Option<String>> {
    for (reader, name) in others {
        has_name(library, reader.id, name).await;
    }
    let mut names = HashMap::new();
    for id in readers.keys() {
        names.insert(*id, name_of(library, *id).await);
    }
    names
}

/// Checks that nothing more of the erased is stored, and that all events of the others are read.
async fn check_events(
    site: &Site,
    erased: &[Reader],
    kept: &[(&Reader, String)],
    events_each: usize,
) {
    let store = site.open().await;
    for reader in erased {
        let refused = store.append(vec![reader.candidate(0)], Vec::new()).await;
        assert!(
            matches!(refused, Err(AppendError::ErasedPerson(_))),
            "{refused:?}"
        );
    }
    let mut read: HashMap<Uuid, Vec<String>> = HashMap::new();
    let mut events = store.read("/readers".parse().unwrap(), ReadOptions::recursive());
    while let Some(event) = events.next().await {
        let ReaderRegisteredEvent { id, name } = event.unwrap().payload().unwrap();
        read.entry(id).or_default().push(name);
    }
    for reader in erased {
        assert_eq!(read[&reader.id], vec![ERASED; events_each]);
    }
    for (reader, _) in kept {
        let names: Vec<_> = (0..events_each).map(|number| reader.name(number)).collect();
        assert_eq!(read[&reader.id], names);
    }
}

#[tokio::test]
async fn erased_readers_are_in_no_file_of_an_embedded_event_store() {
    erases_all(Engine::Embedded).await;
}

#[tokio::test]
async fn erased_readers_are_in_no_file_and_no_table_of_postgresql() {
    if let Some(server) = PostgresServer::start() {
        erases_all(Engine::Postgres(server)).await;
    }
}

#[tokio::test]
async fn erased_readers_are_in_no_file_of_an_event_store_behind_a_url() {
    erases_all(Engine::Server(None)).await;
}
