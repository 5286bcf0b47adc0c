//! The commands of the how-to page on backups.

use std::{fs, path::Path, process::Command};

use crate::support::{
    Library, TOKEN, book, eventually, get, page_commands::code_blocks, requirement::require_program,
};
use reqwest::StatusCode;
use uuid::Uuid;

/// The commands of the page, in order.
fn commands() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/how-to/back-up.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = code_blocks(&page, "sh").into_iter();
    blocks.map(str::to_owned).collect()
}

/// Runs a block of commands in a folder, with `library-app` on the path.
fn run(folder: &Path, block: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_library-app")).parent();
    let programs = programs.unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-ec", block])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{block}\n{said}");
    said
}

#[tokio::test]
async fn a_backup_restores_the_library_as_the_page_says() {
    if !require_program("curl", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (folder, data) = (folder.path(), folder.path().join("data"));
    let rows = format!("sqlite:{}", folder.join("rows.sqlite").display());
    let settings = [("DATABASE_URL", rows.as_str())];
    let [online, check, stopped, restore] = &commands()[..] else {
        panic!("the page shows four blocks of commands");
    };
    let library = Library::embedded_with(&data, &settings);
    fs::write(data.join("api-token"), TOKEN).unwrap();
    let (kept, lost) = (Uuid::new_v4(), Uuid::new_v4());
    library.purchase(&book(kept)).await;
    let before = library.stored_lines().await;
    run(
        folder,
        &online.replace("http://localhost:3000", &library.store_url),
    );
    let said = run(folder, check);
    assert!(said.contains("restored 1 events"), "{said}");

    library.purchase(&book(lost)).await;
    is_in_stock(&library, lost).await;
    assert!(library.process.stop().success());
    run(folder, stopped);
    let [online, stopped] = ["library.backup", "library.stopped.backup"]
        .map(|file| fs::read_to_string(folder.join(file)).unwrap());
    let (online, end) = online.trim_end().rsplit_once('\n').unwrap();
    assert!(
        end.starts_with(r#"{"type":"end","payload":{"events":1,"#),
        "{end}"
    );
    assert!(stopped.starts_with(online), "one has an event more");
    let lines = |backup: &str| backup.lines().count();
    assert!(lines(&stopped) > lines(online) + 1);

    let said = run(folder, restore);
    assert!(said.contains("whole: 1 events"), "{said}");
    let library = Library::embedded_with(&data, &settings);
    assert_eq!(library.stored_lines().await, before);
    is_in_stock(&library, kept).await;
    let gone = get(&format!("{}/books/{lost}", library.url)).await;
    assert_eq!(
        gone.status(),
        StatusCode::NOT_FOUND,
        "rows follow from the events that are there"
    );
}

#[test]
fn a_store_that_cannot_be_verified_has_an_exit_code_of_its_own() {
    let nowhere = [
        "event-store",
        "verify",
        "--data-directory",
        "/no/such/folder",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .args(nowhere)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

async fn is_in_stock(library: &Library, id: Uuid) {
    let url = format!("{}/books/{id}", library.url);
    eventually("the copy is in the stock", async || {
        (get(&url).await.status() == StatusCode::OK).then_some(())
    })
    .await;
}
