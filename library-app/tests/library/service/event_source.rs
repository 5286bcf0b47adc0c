//! A live query in the `EventSource` of a real browser.

use std::{fs, path::Path};

use crate::support::{Library, book, browser::Browser, eventually};
use serde_json::json;
use uuid::Uuid;

/// Keeps the number of copies in the newest answer.
const SUBSCRIBE: &str = "
    window.source = new EventSource('/books');
    window.source.onmessage = (message) => window.copies = JSON.parse(message.data).items.length;";

/// Starts the library where a browser expects it.
fn start(folder: &Path, port: &str) -> Library {
    Library::embedded_with(folder, &[("HTTP_PORT", port)])
}

async fn shows(browser: &Browser, copies: u32) {
    eventually(&format!("the page shows {copies} copies"), async || {
        let shown = browser.run("return window.copies").await;
        (shown == json!(copies)).then_some(())
    })
    .await;
}

/// Copies the files of an event store that does not run.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn a_page_goes_on_after_a_restart_and_after_a_restored_backup() {
    let Some(browser) = Browser::start().await else {
        return;
    };
    let [folder, backup] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let library = Library::embedded(folder.path());
    let port = library.url.rsplit(':').next().unwrap().to_owned();
    library.purchase(&book(Uuid::new_v4())).await;
    assert!(library.process.stop().success());
    copy(folder.path(), backup.path());
    let library = start(folder.path(), &port);
    // The page with this address may open connections to the service.
    browser.open(&format!("{}/docs", library.url)).await;
    browser.run(SUBSCRIBE).await;
    shows(&browser, 1).await;
    library.purchase(&book(Uuid::new_v4())).await;
    shows(&browser, 2).await;
    assert!(library.process.stop().success());
    // The backup does not have the second purchase.
    let library = start(backup.path(), &port);
    shows(&browser, 1).await;
    for copies in 2..=4 {
        library.purchase(&book(Uuid::new_v4())).await;
        shows(&browser, copies).await;
    }
    let state = browser.run("return window.source.readyState").await;
    assert_eq!(state, json!(1), "the stream is open");
}
