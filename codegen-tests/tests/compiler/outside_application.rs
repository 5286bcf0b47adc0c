//! An application outside the workspace depends on the framework alone, under another name.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::cargo::{cargo, target_directory};

const COPY: &str = "11111111-1111-4111-8111-111111111111";
const TOKEN: &str = "0123456789abcdef";

fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let outside = root.join("codegen-tests/outside");
    // The versions in this lock file are available without a network.
    fs::copy(root.join("Cargo.lock"), outside.join("Cargo.lock")).unwrap();
    let output = cargo()
        .args(["build", "--quiet", "--offline"])
        .current_dir(&outside)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    target_directory().join("debug/outside")
}

/// A running application and its address.
struct OutsideService {
    child: Child,
    application: String,
    event_store: String,
}

impl Drop for OutsideService {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(program: &Path) -> OutsideService {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let _ = fs::remove_dir_all(&data);
    let mut child = Command::new(program)
        .args(["--loan-hours", "1", "--http-port", "0"])
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_API_TOKEN", TOKEN)
        .env("EVENT_STORE_DATA_DIR", data)
        .env_remove("RUST_LOG")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut address = |mark: &str| {
        let after = |line: String| line.split_once(mark).map(|(_, rest)| rest.to_owned());
        log.find_map(|line| after(line.unwrap())).unwrap()
    };
    let event_store = address("event store listens on http://");
    let application = address("outside-shop listens on http://");
    // A full pipe would block the process.
    std::thread::spawn(move || log.for_each(drop));
    OutsideService {
        child,
        application,
        event_store,
    }
}

/// Returns the status and the body of the response.
fn post(address: &str, path: &str, body: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (status.parse().unwrap(), body.to_owned())
}

#[test]
fn an_application_outside_the_workspace_lends_and_takes_back() {
    let service = start(&build());
    let borrow = |reader| {
        let path = format!("/books/{COPY}/borrow");
        let body = serde_json::json!({ "reader": reader }).to_string();
        post(&service.application, &path, &body)
    };
    let give_back = || {
        let body = serde_json::json!({ "id": COPY }).to_string();
        post(&service.application, "/books/return", &body)
    };

    let (status, unknown) = give_back();
    assert_eq!(status, 404, "{unknown}");
    let (status, blank) = borrow("");
    assert_eq!(status, 422, "{blank}");
    assert!(blank.contains("/reader"), "{blank}");

    let (status, loan) = borrow("Ada");
    assert_eq!(status, 200, "{loan}");
    assert!(loan.contains("dueAt"), "{loan}");
    let (status, lent) = borrow("Grace");
    assert_eq!(status, 409, "{lent}");
    assert!(lent.contains("copy-lent"), "{lent}");
    assert!(lent.contains("Ada has it"), "{lent}");

    assert_eq!(give_back(), (204, String::new()));
    let (status, returned) = give_back();
    assert_eq!(status, 409, "{returned}");
    assert!(returned.contains("copy-not-lent"), "{returned}");
    assert_eq!(borrow("Grace").0, 200);

    let subject = serde_json::json!({ "subject": format!("/books/{COPY}"), "options": { "recursive": false } });
    let (status, events) = post(
        &service.event_store,
        "/api/v1/read-events",
        &subject.to_string(),
    );
    assert_eq!(status, 200, "{events}");
    let types: Vec<_> = events.matches("\"type\":\"org.outside.shop.").collect();
    assert_eq!(types.len(), 3, "{events}");
    let last = events.rfind("org.outside.shop.BookBorrowedEvent").unwrap();
    let returned = events.find("org.outside.shop.BookReturnedEvent").unwrap();
    assert!(returned < last, "{events}");
}
