//! The commands of `event-store` that work on a data directory.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use es_event::EventCandidate;
use es_store::EventLog as _;
use es_store_client::{ClientSettings, EventSourcingDbStore};
use es_store_sqlite::EmbeddedStore;
use serde_json::value::RawValue;
use tempfile::TempDir;

use super::server_process::{ServerProcess, TOKEN};

fn run(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_event-store"))
        .args(arguments)
        .arg("--data-directory")
        .arg(directory)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn succeeds(arguments: &[&str], directory: &Path) -> Output {
    let output = run(arguments, directory);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    output
}

fn candidate(number: usize) -> EventCandidate {
    EventCandidate {
        source: "tag:test".into(),
        subject: format!("/books/{}", number % 2).parse().unwrap(),
        event_type: "io.example.test".parse().unwrap(),
        data: RawValue::from_string(format!(r#"{{"text":"number-{number}-"}}"#)).unwrap(),
        trace: None,
    }
}

/// Ten events, each with a unique text in its data.
async fn filled() -> TempDir {
    let directory = TempDir::new().unwrap();
    let store = EmbeddedStore::open(directory.path()).unwrap();
    for number in 0..10 {
        store.append(vec![candidate(number)], vec![]).await.unwrap();
    }
    store.close().await;
    directory
}

/// Flips a bit of the byte after the only occurrence of a text in the database.
fn flip_after(text: &str, directory: &Path) {
    let file = directory.join("events.sqlite");
    let mut bytes = std::fs::read(&file).unwrap();
    let places = |window: &[u8]| window == text.as_bytes();
    let at = bytes.windows(text.len()).position(places).unwrap();
    let (_, found) = bytes.split_at_mut(at);
    found[text.len()] ^= 1;
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_whole_store_is_verified() {
    let directory = filled().await;
    let text = said(&succeeds(&["verify"], directory.path()));
    assert!(text.starts_with("whole: 10 events"), "{text}");
}

#[tokio::test]
async fn a_flipped_byte_is_found_and_its_event_named() {
    let directory = filled().await;
    flip_after("number-6", directory.path());
    let output = run(&["verify"], directory.path());
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    let named = "event 6 is damaged: it was damaged on the disk";
    assert!(text.contains(named), "{text}");
    let rest = "6 events before the first of these are whole\nthe log is closed for writing: restore the events";
    assert!(text.contains(rest), "{text}");
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_named() {
    let directory = filled().await;
    // Changes the closing quote of the text into a hash sign, so the data is no longer JSON.
    flip_after("number-6-", directory.path());
    let output = run(&["verify"], directory.path());
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    assert!(
        text.contains("event 6 is damaged: it was damaged on the disk"),
        "{text}"
    );
}

#[tokio::test]
async fn damage_is_accepted_by_an_operator_only() {
    let directory = filled().await;
    flip_after("number-6", directory.path());
    let append = async || {
        let store = EmbeddedStore::open(directory.path()).unwrap();
        let appended = store.append(vec![candidate(0)], vec![]).await;
        store.close().await;
        appended.map(|events| events[0].id.get())
    };
    for _ in 0..2 {
        let refused = append().await.unwrap_err().to_string();
        let closed =
            "the log is closed for writing, because event 6 is damaged: it was damaged on the disk";
        assert!(refused.contains(closed), "{refused}");
        assert_eq!(run(&["verify"], directory.path()).status.code(), Some(1));
    }
    let output = run(&["verify", "--accept"], directory.path());
    assert_eq!(output.status.code(), Some(1));
    let text = said(&output);
    assert!(text.contains("you accept this damage"), "{text}");
    assert_eq!(append().await.unwrap(), 10);
    // The same damage does not close the log again, and other damage does.
    assert_eq!(run(&["verify"], directory.path()).status.code(), Some(1));
    assert_eq!(append().await.unwrap(), 11);
    flip_after("number-3", directory.path());
    let refused = append().await.unwrap_err().to_string();
    assert!(refused.contains("because event 3 is damaged"), "{refused}");
}

#[tokio::test]
async fn an_event_that_the_index_or_the_list_of_types_lacks_is_named_and_an_operator_has_it_added()
{
    let directory = filled().await;
    let file = rusqlite::Connection::open(directory.path().join("events.sqlite")).unwrap();
    for (change, table, flaw) in [
        (
            "DELETE FROM event_types",
            "event_types",
            "it lacks the type of event 0",
        ),
        (
            "UPDATE event_index SET key = x'2f' WHERE event_id = 5 AND key >= x'2f'",
            "event_index",
            "it lacks event 5, so reads of its subject or type miss it",
        ),
    ] {
        assert_eq!(file.execute(change, []).unwrap(), 1);
        let output = run(&["verify"], directory.path());
        assert_eq!(output.status.code(), Some(1));
        let text = said(&output);
        let expected = format!("the table {table} is damaged: {flaw}\nall 10 events are whole\n");
        assert!(text.contains(&expected), "{text}");
        assert!(
            text.contains("run `event-store verify --rebuild`"),
            "{text}"
        );
        let store = EmbeddedStore::open(directory.path()).unwrap();
        let refused = store.append(vec![candidate(0)], vec![]).await;
        assert!(refused.is_err());
        store.close().await;
        drop(store);
        let text = said(&succeeds(&["verify", "--rebuild"], directory.path()));
        assert!(text.starts_with("whole: 10 events"), "{text}");
    }
    let store = EmbeddedStore::open(directory.path()).unwrap();
    store.append(vec![candidate(0)], vec![]).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_checked_is_not_called_broken() {
    let directory = filled().await;
    let store = EmbeddedStore::open(directory.path()).unwrap();
    let output = run(&["verify"], directory.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("in use"));
    drop(store);
    let nothing = directory.path().join("nothing");
    let output = run(&["verify"], &nothing);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("holds no event store"));
    let url = "postgres://me:secret@localhost/events";
    for command in [&["verify"][..], &["run", "--api-token", "secret"]] {
        let output = run(command, Path::new(url));
        assert!(!output.status.success());
        let said = said(&output);
        assert!(
            said.contains("write it to --engine") && !said.contains("secret"),
            "{said}"
        );
    }
    assert!(!nothing.exists(), "a wrong path makes no store");
}

#[tokio::test]
async fn the_url_of_an_unsupported_database_is_refused_without_its_password() {
    let (directory, elsewhere) = (filled().await, TempDir::new().unwrap());
    let (url, path) = ("mysql://me:secret@db/x", directory.path().to_str().unwrap());
    for command in [
        &["copy", "--from", url, "--to", "copy"][..],
        &["copy", "--from", path, "--to", url],
        &["verify", "--data-directory", url],
        &["restore", "--data-directory", url],
        &["import", "--data-directory", url],
        &["run", "--api-token", TOKEN, "--data-directory", url],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_event-store"))
            .args(command)
            .current_dir(elsewhere.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(!output.status.success(), "{command:?}");
        let said = said(&output);
        let reason = "the only URL of a store is postgres://";
        assert!(said.contains(reason) && !said.contains("secret"), "{said}");
    }
    let created = std::fs::read_dir(elsewhere.path()).unwrap().count();
    assert_eq!(created, 0, "a URL makes no folder");
}

#[tokio::test]
async fn a_backup_is_restored_elsewhere_byte_for_byte() {
    let directory = filled().await;
    let elsewhere = TempDir::new().unwrap();
    let (file, copy) = (
        elsewhere.path().join("backup"),
        elsewhere.path().join("copy"),
    );
    let (name, hash) = (file.to_str().unwrap(), |text: String| {
        text.rsplit_once(' ').unwrap().1.to_owned()
    });
    succeeds(&["backup", "--output", name], directory.path());
    let again = run(&["backup", "--output", name], directory.path());
    assert!(!again.status.success(), "a backup is not overwritten");
    succeeds(&["restore", "--input", name], &copy);
    let verified = |directory| hash(said(&succeeds(&["verify"], directory)));
    assert_eq!(verified(&copy), verified(directory.path()));
    let refused = said(&run(&["restore", "--input", name], &copy));
    assert!(refused.contains("is not empty"), "{refused}");

    let backup = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, backup.replace("number-4-", "number-5-")).unwrap();
    let new = elsewhere.path().join("new");
    let refused = run(&["restore", "--input", name], &new);
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("broken at event 4"),
        "{}",
        said(&refused)
    );
    assert!(!new.join("events.sqlite").exists());
}

#[tokio::test]
async fn a_backup_without_its_end_is_restored_only_on_demand() {
    let directory = filled().await;
    let elsewhere = TempDir::new().unwrap();
    let [file, cut, new] = ["backup", "cut", "new"].map(|name| elsewhere.path().join(name));
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    succeeds(&["backup", "--output", &name(&file)], directory.path());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let backup = std::fs::read_to_string(&file).unwrap();
    let end = backup.trim_end().rfind('\n').unwrap() + 1;
    for length in [0, 1, end / 2, end, end + 20] {
        std::fs::write(&cut, &backup[..length]).unwrap();
        let refused = run(&["restore", "--input", &name(&cut)], &new);
        assert!(!refused.status.success(), "{length}: {}", said(&refused));
        assert!(!new.join("events.sqlite").exists());
    }
    let refused = run(
        &["restore", "--input", "/dev/null", "--accept-missing-end"],
        &new,
    );
    assert!(said(&refused).contains("no end mark"), "{}", said(&refused));
    std::fs::write(&cut, &backup[..end]).unwrap();
    succeeds(
        &["restore", "--input", &name(&cut), "--accept-missing-end"],
        &new,
    );
    assert_eq!(
        said(&succeeds(&["verify"], &new)),
        said(&succeeds(&["verify"], directory.path()))
    );
}

#[tokio::test]
async fn hashes_of_both_versions_are_verified_and_exported() {
    let directory = filled().await;
    let folder = directory.path().to_str().unwrap();
    let arguments = [
        "--data-directory",
        folder,
        "--http-port=0",
        "--dialect=event",
    ];
    let server = ServerProcess::start(&[&arguments[..], &["--hash-version=2"]].concat());
    let store = EventSourcingDbStore::new(ClientSettings::new(&server.url, TOKEN)).unwrap();
    let written = store.append(vec![candidate(10)], vec![]).await;
    let hash = written.unwrap()[0].hash.to_string();
    assert!(hash.starts_with("esdb:hash:v2:"), "{hash}");
    server.kill();
    let verified = succeeds(&["verify"], directory.path());
    assert!(said(&verified).contains(&hash), "{}", said(&verified));
    let exported = succeeds(&["export"], directory.path());
    let exported = String::from_utf8(exported.stdout).unwrap();
    assert!(
        exported.lines().last().unwrap().contains(&hash),
        "{exported}"
    );
    assert!(!exported.lines().next().unwrap().contains("esdb:hash"));
}

#[tokio::test]
async fn events_are_exported_and_imported_as_new_ones() {
    let directory = filled().await;
    let elsewhere = TempDir::new().unwrap();
    let file = elsewhere.path().join("export");
    let exported = succeeds(&["export", "--subject", "/books/1"], directory.path());
    std::fs::write(&file, exported.stdout).unwrap();
    let other = elsewhere.path().join("other");
    succeeds(&["import", "--input", file.to_str().unwrap()], &other);
    let text = said(&succeeds(&["verify"], &other));
    assert!(text.starts_with("whole: 5 events"), "{text}");
    std::fs::write(&file, "\n{\"source\":\"tag:a\"}\n").unwrap();
    let refused = run(&["import", "--input", file.to_str().unwrap()], &other);
    assert!(
        said(&refused).contains("line 2: missing field"),
        "{}",
        said(&refused)
    );
}

#[test]
fn an_import_refuses_an_event_that_the_api_refuses() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("events");
    let event = |length: usize| {
        let text = "x".repeat(length);
        format!(
            r#"{{"source":"tag:a","subject":"/a","type":"io.example.a","data":{{"a":"{text}"}}}}"#
        )
    };
    std::fs::write(
        &file,
        format!("{}\n{}\n", event(8_000_000), event(50_000_000)),
    )
    .unwrap();
    let import = ["import", "--input", file.to_str().unwrap()];
    let text = said(&run(&import, &folder.path().join("long")));
    assert!(text.contains("line 2: the line has more than"), "{text}");
    std::fs::write(
        &file,
        format!("{}\n{}\n", event(8_000_000), event(8_500_000)),
    )
    .unwrap();
    let store = folder.path().join("store");
    let text = said(&run(&import, &store));
    assert!(text.contains("line 2: the event has 8500"), "{text}");
    assert!(text.contains("accepts 8388608 at most"), "{text}");
    std::fs::write(&file, event(8_000_000)).unwrap();
    let text = said(&succeeds(&import, &store));
    assert!(text.contains("imported 1 events"), "{text}");
}

#[test]
fn an_input_without_line_breaks_is_refused_before_it_fills_the_memory() {
    let folder = TempDir::new().unwrap();
    let text = said(&run(&["import", "--input", "/dev/zero"], folder.path()));
    assert!(
        text.contains("line 1: the line has more than 33554432 bytes"),
        "{text}"
    );
}

#[tokio::test]
async fn stats_say_what_is_there() {
    let directory = filled().await;
    let output = succeeds(&["stats"], directory.path());
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "events:      10\n",
        "subjects:    4, parents",
        "  io.example.test\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn help_teaches_by_example() {
    let help = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_event-store"));
        let output = command.args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = help(&["--help"]);
    for command in [
        "run", "verify", "backup", "restore", "export", "import", "stats",
    ] {
        assert!(text.contains(&format!("\n  {command}")), "{text}");
    }
    assert!(
        text.contains("event-store backup --data-directory"),
        "{text}"
    );
    assert!(help(&["verify", "--help"]).contains("exit code"));
}

#[test]
fn an_import_that_is_refused_sends_no_command_to_the_terminal() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("events.ndjson");
    let event = |subject: &str, event_type: &str| {
        format!(r#"{{"source":"tag:a","subject":"{subject}","type":"{event_type}","data":{{}}}}"#)
    };
    for line in [
        event("/a", r"io.example.\u001b[2Ja"),
        event(r"/\u001b[2J", "io.example.a"),
        event("/a", "io.example.\u{9b}2Ja"),
        event("/a", "io.example.a").replace("data", r"\u001b[2J"),
    ] {
        std::fs::write(&file, &line).unwrap();
        let output = run(
            &["import", "--input", file.to_str().unwrap()],
            &directory.path().join("data"),
        );
        let text = said(&output);
        assert!(text.starts_with("error: line 1: "), "{text:?}");
        let is_command = |one: char| one.is_control() && one != '\n';
        assert!(
            !output.status.success() && !text.contains(is_command),
            "{text:?}"
        );
    }
}
