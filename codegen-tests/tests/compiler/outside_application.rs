//! A clinic: an application of another domain, written from the how-to pages, outside the workspace and with the framework
//! under another name.

use std::{
    cell::RefCell,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value, json};

use crate::cargo::{cargo, target_directory};

const APPOINTMENT: &str = "11111111-1111-4111-8111-111111111111";
const DOCTOR: &str = "22222222-2222-4222-8222-222222222222";
const PATIENT: &str = "33333333-3333-4333-8333-333333333333";
const TOKEN: &str = "0123456789abcdef";
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the tests of the clinic, which also builds its program.
fn test_and_build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let outside = root.join("codegen-tests/outside");
    // The versions in this lock file are available without a network.
    fs::copy(root.join("Cargo.lock"), outside.join("Cargo.lock")).unwrap();
    let output = cargo()
        .args(["test", "--tests", "--offline"])
        .current_dir(&outside)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{complaints}");
    target_directory().join("debug/outside")
}

/// A running clinic and its address.
struct Clinic {
    child: Child,
    address: String,
    /// The headers with which a query sees the last command.
    position: RefCell<String>,
}

impl Drop for Clinic {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(program: &Path, insurer: &str) -> Clinic {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let _ = fs::remove_dir_all(&data);
    fs::create_dir_all(&data).unwrap();
    let mut child = Command::new(program)
        .args(["--insurer-url", insurer, "--http-port", "0"])
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_API_TOKEN", TOKEN)
        .env("EVENT_STORE_DATA_DIR", data.join("data"))
        .env_remove("RUST_LOG")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let after = |line: String| {
        let (_, address) = line.split_once("clinic listens on http://")?;
        Some(address.to_owned())
    };
    let address = log.find_map(|line| after(line.unwrap())).unwrap();
    // A full pipe would block the process.
    std::thread::spawn(move || log.for_each(drop));
    Clinic {
        child,
        address,
        position: RefCell::default(),
    }
}

impl Clinic {
    /// Returns the status and the body of the response.
    fn send(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let address = &self.address;
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = body.to_string();
        let (length, position) = (body.len(), self.position.borrow().clone());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\n{position}content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if let Some((_, rest)) = head.split_once("event-position: ") {
            let position = rest.lines().next().unwrap();
            self.position
                .replace(format!("event-position: {position}\r\n"));
        }
        let status = head.split(' ').nth(1).unwrap();
        (status.parse().unwrap(), body.to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        self.send("POST", path, body)
    }
}

/// Listens as the insurer, and passes on the requests that arrive.
fn listen_as_insurer() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/appointments", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = BufReader::new(socket.unwrap());
            let mut request = String::new();
            while !request.contains("\r\n\r\n") {
                socket.read_line(&mut request).unwrap();
            }
            let head = request.to_ascii_lowercase();
            let (_, length) = head.split_once("content-length: ").unwrap();
            let (length, _) = length.split_once("\r\n").unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            socket.read_exact(&mut body).unwrap();
            let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
            socket.get_mut().write_all(answer).unwrap();
            let body = String::from_utf8(body).unwrap();
            let _ = sender.send(request + &body);
        }
    });
    (url, requests)
}

#[test]
fn a_clinic_is_written_from_the_how_to_pages() {
    let program = test_and_build();
    let (insurer, requests) = listen_as_insurer();
    let clinic = start(&program, &insurer);
    let doctor = json!({ "id": DOCTOR, "name": "Dr. Grace", "feeCents": 1250 });
    assert_eq!(clinic.post("/doctors/add", &doctor).0, 201);
    let patient = json!({ "id": PATIENT, "name": "Ada", "email": "ada@example.com" });
    assert_eq!(clinic.post("/patients/register", &patient).0, 201);

    let book = |id: &str| {
        let starts_at = "2026-07-01T12:00:00Z";
        let body = json!({ "id": id, "doctor": DOCTOR, "patient": PATIENT, "startsAt": starts_at });
        clinic.post("/appointments/book", &body)
    };
    assert_eq!(book(APPOINTMENT).0, 201);
    let (status, busy) = book(PATIENT);
    assert_eq!(status, 409, "{busy}");
    assert!(busy.contains("doctor-busy"), "{busy}");

    let complete = |minutes: u32| {
        let body = json!({ "id": APPOINTMENT, "minutes": minutes });
        clinic.post("/appointments/complete", &body)
    };
    let (status, endless) = complete(0);
    assert_eq!(status, 422, "{endless}");
    assert!(endless.contains("/minutes"), "{endless}");
    assert_eq!(complete(20), (204, String::new()));
    let told = requests.recv_timeout(PATIENCE).unwrap();
    assert!(told.contains("idempotency-key: "), "{told}");
    assert!(told.contains(r#""cents":1250"#), "{told}");

    let own = format!("/patients/{PATIENT}/appointments");
    let (status, appointments) = clinic.send("GET", &own, &Value::Null);
    assert_eq!(status, 200, "{appointments}");
    assert!(appointments.contains("Dr. Grace"), "{appointments}");
    let (status, revenue) = clinic.send("GET", "/revenue", &Value::Null);
    assert_eq!(status, 200, "{revenue}");
    assert!(revenue.contains(r#""paidCents":1250"#), "{revenue}");
}
