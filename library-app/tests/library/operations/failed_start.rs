//! A failed start gives its reason and the remedy in one sentence.

use std::{fs, path::Path, process::Command};

use crate::support::{Library, TOKEN, book, postgres_server::PostgresServer};

/// The error of a start that fails with these settings.
pub(crate) fn refusal(folder: &Path, settings: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    command
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_DATA_DIR", folder)
        .env_remove("EVENT_STORE_URL")
        .env_remove("EVENT_STORE_API_TOKEN")
        .envs(settings.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn a_wrong_setting_is_named_with_what_would_be_right() {
    let folder = tempfile::tempdir().unwrap();
    for (setting, value, said) in [
        ("HTTP_PORT", "80800", "HTTP_PORT"),
        ("HTTP_HOST", "nowhere", "--http-host"),
        ("EVENT_STORE_DIALECT", "klingon", "item and event"),
        ("EVENT_STORE_API_TOKEN", "with blank", "visible ASCII"),
        (
            "EVENT_STORE_URL",
            "http://localhost:3000",
            "EVENT_STORE_API_TOKEN",
        ),
        ("RUST_LOG", "a=b=c", "RUST_LOG"),
        (
            "EVENT_METADATA_HEADERS",
            "x-a,Authorization",
            "holds a credential",
        ),
        ("EVENT_METADATA_HEADERS", "cookie", "holds a credential"),
    ] {
        let text = refusal(folder.path(), &[(setting, value)]);
        let named = said == "HTTP_PORT" && text.contains("--http-port") || text.contains(said);
        assert!(named, "{setting}={value}: {text}");
    }
    let settings = [
        ("EVENT_STORE_URL", "ftp://x"),
        ("EVENT_STORE_API_TOKEN", "secret-t0ken"),
    ];
    let text = refusal(folder.path(), &settings);
    assert!(
        text.contains("http://host:3000") && !text.contains("secret-t0ken"),
        "{text}"
    );
}

#[test]
fn an_error_of_the_command_line_shows_no_password_and_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let url = "mysql://ada:hunter2@db/library";
    for settings in [
        [("DATABASE_URL", url)],
        [("EVENT_STORE_API_TOKEN", "hunter2 hunter2")],
        [(
            "DATABASE_URL",
            "postgres://ada:hunter2@127.0.0.1:1/library?sslmode=x",
        )],
        [(
            "DATABASE_URL",
            "postgres://ada:hunter2@127.0.0.1:port/library",
        )],
    ] {
        let text = refusal(folder.path(), &settings);
        assert!(!text.contains("hunter2"), "{text}");
        let named = text.contains(settings[0].0)
            || text.contains("--event-store-api-token")
            || text.contains("--database-url");
        assert!(named || text.contains("database"), "{text}");
    }
    for arguments in [
        &["--database-url", url][..],
        &["--databse-url", url],
        &["--event-store-api-token", "a", "hunter2"],
        &[
            "projection",
            "--event-store-api-token",
            "hunter2 b",
            "status",
        ],
        &[url],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
        let output = command.args(arguments).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(
            !output.status.success() && !text.contains("hunter2"),
            "{text}"
        );
    }
}

#[test]
fn a_url_as_folder_is_refused_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://me:hunter2@localhost/events";
    let text = refusal(folder.path(), &[("EVENT_STORE_DATA_DIR", url)]);
    assert!(text.contains("write it to EVENT_STORE_URL"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_wrong_url_of_postgresql_is_refused_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://me:hunter2@127.0.0.1:1/events?durability=some";
    let text = refusal(folder.path(), &[("EVENT_STORE_URL", url)]);
    assert!(text.contains("write durability=unsafe"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for setting in ["HTTP_PORT", "EVENT_STORE_PORT"] {
        let text = refusal(folder.path(), &[(setting, &port)]);
        assert!(text.contains(&port) && text.contains(setting), "{text}");
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Library::embedded(folder.path());
    let text = refusal(folder.path(), &[]);
    assert!(text.contains(folder.path().to_str().unwrap()), "{text}");
    assert!(text.contains("another process"), "{text}");
}

#[test]
fn data_that_is_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("events.sqlite"),
        "not a database, but precious",
    )
    .unwrap();
    refusal(folder.path(), &[]);
    let kept = fs::read_to_string(folder.path().join("events.sqlite")).unwrap();
    assert_eq!(kept, "not a database, but precious");
}

#[tokio::test]
async fn a_token_is_generated_once_and_never_logged() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    command
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_DATA_DIR", folder.path())
        .env("RUST_LOG", "trace")
        .env_remove("EVENT_STORE_URL")
        .env_remove("EVENT_STORE_API_TOKEN");
    let marks = ["library-service listens on"];
    let (process, _) = crate::support::Process::start(&mut command, marks);
    let token = fs::read_to_string(folder.path().join("api-token")).unwrap();
    assert_eq!(token.trim().len(), 64);
    assert!(
        process.log().contains("api-token"),
        "the start says where it is"
    );
    assert!(!process.log().contains(token.trim()));
    drop(process);
    let library = Library::embedded(folder.path());
    assert!(!library.process.log().contains(TOKEN));
}

#[tokio::test]
async fn a_database_that_lost_confirmed_events_is_refused_until_the_loss_is_accepted() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (url, folder) = (server.url(), tempfile::tempdir().unwrap());
    let path = folder.path().to_str().unwrap();
    let settings = [("EVENT_STORE_URL", &*url), ("EVENT_STORE_API_TOKEN", TOKEN)];
    let mut library = Library::with_store_and(&url, &[("EVENT_STORE_DATA_DIR", path)]);
    for _ in 0..3 {
        let purchased = library.purchase(&book(uuid::Uuid::new_v4())).await;
        assert_eq!(purchased.status(), reqwest::StatusCode::CREATED);
    }
    library.process.kill();
    let stored = server.query("SELECT last + 1 FROM es_head");
    let stored = stored.trim();
    server.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    let text = refusal(folder.path(), &settings);
    let sentence = format!(
        "EVENT_STORE_URL cannot be used: the server {} has 0 events, but {stored} were stored, so the \
         last {stored} are missing: check the URL, restore a backup, or accept the loss with \
         EVENT_STORE_ACCEPT_LOSS=true (--accept-loss)",
        server.host()
    );
    assert!(text.contains(&sentence), "{text}");
    let accepted = [
        ("EVENT_STORE_DATA_DIR", path),
        ("EVENT_STORE_ACCEPT_LOSS", "true"),
    ];
    let library = Library::with_store_and(&url, &accepted);
    assert!(library.process.log().contains("the loss was accepted"));
    let purchased = library.purchase(&book(uuid::Uuid::new_v4())).await;
    assert_eq!(purchased.status(), reqwest::StatusCode::CREATED);
    drop(library);
    Library::with_store_and(&url, &[("EVENT_STORE_DATA_DIR", path)]);
}
