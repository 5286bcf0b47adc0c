//! An application with one declaration of each kind compiles without a warning of clippy, its tests fail
//! where somebody has to decide, and it serves clients.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use crate::{
    cargo::cargo,
    scratch_folder::{checkout, empty_folder, es, new_application, target_directory},
};

/// One declaration of each kind, with the message of its test.
const ADDED: [(&str, &str); 7] = [
    (
        "command BorrowBook --subject /books/{id} --field reader:Uuid --event BookBorrowed",
        "decide when BorrowBookCommand is rejected, and write a scenario for each reason",
    ),
    (
        "event LoanOpened --subject /readers/{reader} --field reader:Uuid --field tags:Vec<String>",
        "decide which handler records LoanOpenedEvent, and write its scenario",
    ),
    (
        "state Book --event BookPurchased --event BookBorrowed --field title:String --field lent:bool",
        "decide what each event changes in Book, and compare it with `then_state`",
    ),
    (
        "read-model OpenLoan --subject /books/{id} --event BookBorrowed --field reader:Uuid --field due_at:Option<Timestamp>",
        "decide what each event changes in OpenLoan, and compare `rows`",
    ),
    (
        "query BrowseLoans --read-model OpenLoan --path /loans --field reader:Uuid",
        "decide which rows BrowseLoans returns, and compare them with `query`",
    ),
    (
        "query FindLoan --read-model OpenLoan --path /loans/{id}",
        "decide which rows FindLoan returns, and compare them with `query`",
    ),
    (
        "reaction LoanReminder --event BookPurchased --command BorrowBook",
        "decide when LoanReminder sends BorrowBookCommand, and compare it with `then_sent`",
    ),
];

/// The tests of `cargo es new`, and the one of an added command that passes.
const NUM_PASSED: usize = 5;

const COPY: &str = "0190a1b2-0000-7000-8000-000000000001";

fn write_application() -> PathBuf {
    let folder = new_application(&empty_folder("generated"), "my-library");
    for (arguments, _) in ADDED {
        es(&folder, &format!("add {arguments}"));
    }
    // With the profile and the lock file of the workspace, Cargo reuses its build.
    let root = checkout();
    let outside = fs::read_to_string(root.join("codegen-tests/outside/Cargo.toml")).unwrap();
    let profile = &outside[outside.find("[profile.dev]").unwrap()..];
    fs::create_dir(folder.join(".cargo")).unwrap();
    fs::write(folder.join(".cargo/config.toml"), profile).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

/// Runs Cargo with clippy in the place of the compiler: clippy compiles, too, so that nothing needs to be
/// compiled twice.
fn run_cargo(folder: &Path, arguments: &[&str]) -> Output {
    let print = ["--print", "sysroot"];
    let sysroot = Command::new("rustc")
        .args(print)
        .current_dir(folder)
        .output()
        .unwrap();
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    let clippy = Path::new(sysroot.trim()).join("bin/clippy-driver");
    cargo()
        .args(arguments)
        .args(["--quiet", "--offline"])
        .env("CARGO_TARGET_DIR", target_directory())
        .env("RUSTC_WORKSPACE_WRAPPER", clippy)
        .env_remove("RUST_BACKTRACE")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// A running application.
struct GeneratedService {
    child: Child,
    address: String,
}

impl Drop for GeneratedService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(folder: &Path) -> GeneratedService {
    let mut child = Command::new(target_directory().join("debug/my-library"))
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env_remove("RUST_LOG")
        .current_dir(folder)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mark = "my-library listens on http://";
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let after_mark = |line: String| line.split_once(mark).map(|(_, rest)| rest.to_owned());
    let address = log.find_map(|line| after_mark(line.unwrap())).unwrap();
    // A full pipe would block the process.
    std::thread::spawn(move || log.for_each(drop));
    GeneratedService { child, address }
}

/// Sends a request and returns the response.
fn send(service: &GeneratedService, request: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(&service.address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let length = body.len();
    let request = format!(
        "{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\nevent-position: 0\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_generated_application_compiles_fails_where_it_has_to_and_runs() {
    let folder = write_application();

    let output = run_cargo(&folder, &["test", "--no-fail-fast"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        !errors.contains("warning") && !errors.contains("error["),
        "{errors}"
    );
    for (_, message) in ADDED {
        assert!(
            printed.contains(message),
            "{message} is not in {printed}{errors}"
        );
    }
    let result = format!("FAILED. {NUM_PASSED} passed; {} failed;", ADDED.len());
    assert!(printed.contains(&result), "{printed}{errors}");

    let output = run_cargo(&folder, &["build"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let service = start(&folder);
    let book = format!(r#"{{"id":"{COPY}","title":"The Hobbit","numPages":310}}"#);
    let response = send(&service, "POST /books/purchase", &book);
    assert!(response.starts_with("HTTP/1.1 201 Created"), "{response}");
    let response = send(&service, "POST /books/purchase", &book);
    assert!(response.starts_with("HTTP/1.1 409 Conflict"), "{response}");
    let response = send(&service, "GET /books?title=hobbit", "");
    assert!(
        response.starts_with("HTTP/1.1 200 OK") && response.contains(COPY),
        "{response}"
    );
    let response = send(&service, &format!("GET /loans/{COPY}"), "");
    assert!(response.starts_with("HTTP/1.1 404 Not Found"), "{response}");
}
