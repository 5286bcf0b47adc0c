//! A start that is refused gives its reason and the remedy in one sentence.

use std::{fs, path::Path};

use es_framework::{App, Settings};

use crate::{running_service::TOKEN, service_process::ServiceProcess};

const PASSWORD: &str = "hunter2";

/// Returns the error of a start that fails with these settings.
async fn refusal(settings: Settings) -> String {
    let app = App::new("library-service").settings(settings);
    let error = app.build().await.unwrap_err();
    let text = format!("{error:?}");
    assert!(!text.contains(PASSWORD), "{text}");
    text
}

fn in_folder(folder: &Path) -> Settings {
    let token = TOKEN.parse().unwrap();
    Settings::default()
        .event_store_api_token(Some(token))
        .event_store_data_dir(folder.to_owned())
}

#[tokio::test]
async fn an_empty_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["", " "] {
        let settings = in_folder(folder.path()).event_source(Some(text.into()));
        let text = refusal(settings).await;
        let sentence = "EVENT_SOURCE is empty: set it to a text, or do not set it";
        assert!(text.contains(sentence), "{text}");
    }
    let settings = in_folder(folder.path()).auth_roles_claim(String::new());
    let text = refusal(settings).await;
    assert!(text.contains("AUTH_ROLES_CLAIM is empty"), "{text}");
}

#[tokio::test]
async fn a_url_as_folder_is_refused_without_its_password() {
    let url = format!("postgres://me:{PASSWORD}@localhost/events");
    let text = refusal(in_folder(Path::new(&url))).await;
    assert!(text.contains("write it to EVENT_STORE_URL"), "{text}");
}

#[tokio::test]
async fn a_wrong_url_of_postgresql_is_refused_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("postgres://me:{PASSWORD}@127.0.0.1:1/events?durability=some");
    let settings = in_folder(folder.path()).event_store_url(Some(url.into()));
    let text = refusal(settings).await;
    assert!(text.contains("write durability=unsafe"), "{text}");
}

#[tokio::test]
async fn a_second_process_on_the_same_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let _first = ServiceProcess::start_on_data(folder.path(), &[]);
    let text = refusal(in_folder(folder.path())).await;
    assert!(text.contains(folder.path().to_str().unwrap()), "{text}");
    assert!(text.contains("another process"), "{text}");
}

#[tokio::test]
async fn data_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.sqlite");
    let precious = "not a database, but precious";
    fs::write(&file, precious).unwrap();
    refusal(in_folder(folder.path())).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), precious);
}
