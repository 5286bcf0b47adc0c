//! Events of almost the largest size: a page of the console holds none of them whole but the one that it is about.

use std::{path::Path, time::Duration};

use es_framework::{
    event::EventCandidate,
    store::{EventStore as _, sqlite::EmbeddedStore},
};
use reqwest::StatusCode;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::support::{Library, book, client, eventually, json_of, memory, new_client};

/// The size of the text of an event in bytes. A write accepts 8 MiB.
const LARGE: usize = 7_900_000;
/// The number of events, as many as a page has.
const EVENTS: usize = 50;
/// The memory that a page may need in MiB: a few events, of which the database and the page have a copy each. All
/// events of a page have 380 MiB.
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
    let cookie = library.open_console().await;
    let browser = new_client()
        .timeout(Duration::from_secs(120))
        .build()
        .unwrap();
    let pages = [
        ("/console", "PageScannedEvent", 100_000),
        ("/console?text=nowhere", "Searched", 100_000),
        ("/console/subjects/books/1", "PageScannedEvent", 100_000),
        ("/console/events/30", "the first 100 kB of 7 MB", 500_000),
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
    let data = browser.get(format!("{}/console/events/30/data", library.url));
    let data = data.header("cookie", &cookie).send().await.unwrap();
    let data = json_of(data).await;
    assert_eq!(data["number"], 30);
    assert_eq!(data["text"].as_str().unwrap().len(), LARGE);
}

#[tokio::test]
async fn a_list_of_rows_leads_to_each_whole_row() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let cookie = library.open_console().await;
    let title = "The Lord of the Rings ".repeat(20);
    let mut long = book(Uuid::new_v4());
    long["title"] = title.trim().into();
    assert_eq!(library.purchase(&long).await.status(), StatusCode::CREATED);
    let page = async |path: &str| {
        let page = client().get(format!("{}{path}", library.url));
        page.header("cookie", &cookie).send().await.unwrap()
    };
    let link = eventually("the row is there", async || {
        let rows = page("/console/rows/book_copies")
            .await
            .text()
            .await
            .unwrap();
        assert!(!rows.contains(title.trim()), "{rows}");
        let (_, link) = rows.split_once("href=\"/console/rows/book_copies/")?;
        let (position, _) = link.split_once('"')?;
        Some(format!("/console/rows/book_copies/{position}"))
    })
    .await;
    let row = page(&link).await;
    assert_eq!(row.headers()["x-content-type-options"], "nosniff");
    assert_eq!(json_of(row).await["title"], long["title"]);
    let missing = page("/console/rows/book_copies/7000").await;
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    let malformed = page("/console/rows/book_copies/x").await;
    assert_eq!(malformed.status(), StatusCode::BAD_REQUEST);
}
