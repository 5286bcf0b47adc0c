//! A failed start gives its reason and the remedy in one sentence.

use std::{fs, path::Path, process::Command};

use crate::support::{Library, TOKEN};

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
