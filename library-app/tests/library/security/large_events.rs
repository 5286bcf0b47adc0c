//! Events of almost the largest size: a page of the console holds none of them whole but the one that it is about.

use std::{path::Path, time::Duration};

use es_framework::{
    event::EventCandidate,
    store::{EventLog as _, sqlite::EmbeddedStore},
};
use reqwest::StatusCode;
use serde_json::value::RawValue;

use crate::support::{Library, eventually, get, json_of, memory, new_client};

/// The size of the text of an event in bytes. A write accepts 8 MiB.
const LARGE: usize = 7_900_000;
/// The number of events on a page.
const EVENTS: usize = 30;
/// The memory that a page may need in MiB: a few events, of which the database and the page have a copy each. All
/// events of a page have 230 MiB.
const ALLOWED: u64 = 100;

/// Records large events of another application on one subject.
async fn record_large_events(folder: &Path) {
    let store = EmbeddedStore::open(folder).unwrap();
    let text = "x".repeat(LARGE);
    for number in 0..EVENTS {
        // Without optimisation, serde takes long to look for characters to escape.
        let data = format!("{{\"number\":{number},\"text\":\"{text}\"}}");
        let candidate = EventCandidate {
            source: "scanner".into(),
            subject: "/books/1".parse().unwrap(),
            event_type: "com.example.scanner.PageScannedEvent".parse().unwrap(),
            data: RawValue::from_string(data).unwrap(),
            trace: None,
        };
        store.append(vec![candidate], vec![]).await.unwrap();
    }
    store.close().await;
}

#[tokio::test]
async fn a_page_of_large_events_needs_the_memory_of_a_few() {
    let folder = tempfile::tempdir().unwrap();
    record_large_events(folder.path()).await;
    let library = Library::embedded(folder.path());
    let id = library.process.id();
    // Read models and reactions read all events at the start.
    eventually(
        "everything that follows the events has read them",
        async || {
            let mut behind = 0;
            for followers in ["projections", "reactions"] {
                let shown = get(&format!("{}/actuator/{followers}", library.url)).await;
                let shown = json_of(shown).await;
                let statuses = shown.as_object().unwrap().values();
                behind += statuses
                    .map(|one| one["eventsBehind"].as_u64().unwrap())
                    .sum::<u64>();
            }
            (behind == 0).then_some(())
        },
    )
    .await;
    let cookie = library.open_console().await;
    let browser = new_client()
        .timeout(Duration::from_secs(120))
        .build()
        .unwrap();
    let pages = [
        ("/console", "PageScannedEvent", 100_000),
        ("/console?text=nowhere", "Searched", 100_000),
        ("/console/subjects/books/1", "PageScannedEvent", 100_000),
        ("/console/events/20", "the first 100 kB of 7 MB", 500_000),
    ];
    for (path, text, most) in pages {
        memory::forget_peak(id);
        let before = memory::resident(id);
        let page = browser.get(format!("{}{path}", library.url));
        let page = page.header("cookie", &cookie).send().await.unwrap();
        assert_eq!(page.status(), StatusCode::OK);
        let page = page.text().await.unwrap();
        assert!(page.contains(text), "{path}");
        assert!(page.len() < most, "{path}: {}", page.len());
        let needed = memory::peak(id).saturating_sub(before);
        println!("{path}: {needed} MiB");
        assert!(needed < ALLOWED, "{path}: {needed} MiB");
    }
    let data = browser.get(format!("{}/console/events/20/data", library.url));
    let data = data.header("cookie", &cookie).send().await.unwrap();
    let data = json_of(data).await;
    assert_eq!(data["number"], 20);
    assert_eq!(data["text"].as_str().unwrap().len(), LARGE);
}
