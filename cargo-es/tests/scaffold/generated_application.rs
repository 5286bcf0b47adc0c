//! An application with one declaration of each kind compiles without a warning of clippy, its tests fail
//! where somebody has to decide, and it serves clients.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    running_service::RunningService,
    scratch_folder::{empty_folder, es, new_application},
    shared_build::{explain, run_cargo, share_build},
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
    share_build(&folder);
    folder
}

/// Sends a request and returns the response.
fn send(service: &RunningService, request: &str, body: &str) -> String {
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

/// Each kind of declaration is explained: with what it is connected, and with a derived name.
fn check_explanations(folder: &Path) {
    for (name, lines) in [
        (
            "BorrowBookCommand",
            [
                "Command at src/borrow_book.rs:8",
                "  route         POST /books/borrow",
            ],
        ),
        (
            "BookBorrowedEvent",
            [
                "  event type    com.example.my_library.BookBorrowedEvent",
                "  recorded by   BorrowBookCommand",
            ],
        ),
        (
            "OpenLoan",
            [
                "  table         open_loans",
                "  answers       BrowseLoans, FindLoan",
            ],
        ),
        (
            "FindLoan",
            [
                "  route         GET /loans/{id}",
                "  reads         open_loans",
            ],
        ),
        (
            "LoanReminder",
            [
                "Reaction at src/loan_reminder.rs:",
                "  sends         BorrowBookCommand",
            ],
        ),
        (
            "com.example.my_library.BookPurchasedEvent",
            [
                "  subject       /books/{id}",
                "  starts        LoanReminder",
            ],
        ),
    ] {
        let output = explain(folder, name);
        let printed = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && errors.is_empty(),
            "{name}: {errors}"
        );
        for line in lines {
            assert!(printed.contains(line), "{name}: {printed}");
        }
    }
    // No handler takes this state yet.
    let output = explain(folder, "Book");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && errors.contains("state that a handler takes"),
        "{errors}"
    );
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
    check_explanations(&folder);
    let service = RunningService::start(&folder, "my-library");
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
