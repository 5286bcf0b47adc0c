//! The receiver of the page about public events, which is written in Python with a published library of the specification.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{SystemTime, UNIX_EPOCH},
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{
    Library, book, client, eventually, page_commands::code_blocks, post,
    python_environment::programs_of,
};

const PAGE: &str = include_str!("../../../../docs/src/how-to/receive-public-events.md");
const STRANGER: &str = "whsec_Zm9yZ2VkIGJ5IHNvbWVib2R5IGVsc2Uu";

/// The running receiver, with the secret that the page gives it.
struct PageReceiver {
    process: Child,
    folder: TempDir,
    port: u16,
    secret: String,
}

impl PageReceiver {
    async fn start() -> Option<Self> {
        let packages = ["standardwebhooks==1.1.0"];
        let python = programs_of("receiver", &packages)?.join("python");
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = tempfile::tempdir().unwrap();
        let program = code_blocks(PAGE, "python")[0].replace("9000", &port.to_string());
        fs::write(folder.path().join("receiver.py"), program).unwrap();
        let [_install, start, ..] = code_blocks(PAGE, "sh")[..] else {
            panic!("the page shows how to install and to start")
        };
        let (setting, command) = start.trim().split_once(' ').unwrap();
        assert_eq!(command, "python receiver.py");
        let (variable, secret) = setting.split_once('=').unwrap();
        let process = Command::new(python)
            .arg("receiver.py")
            .env(variable, secret)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(File::create(folder.path().join("printed")).unwrap())
            .spawn()
            .unwrap();
        let secret = secret.to_owned();
        let receiver = Self {
            process,
            folder,
            port,
            secret,
        };
        let connect = async || TcpStream::connect(("127.0.0.1", port)).ok();
        drop(eventually("the receiver listens", connect).await);
        Some(receiver)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    fn printed(&self) -> String {
        fs::read_to_string(self.file("printed")).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }

    /// Posts a body with the signature of another one.
    async fn post(&self, secret: &str, signed: &str, body: &str) -> StatusCode {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_secs()).unwrap();
        let signer = Webhook::new(secret).unwrap();
        let request = client()
            .post(self.url())
            .header("webhook-id", "delivery")
            .header("webhook-timestamp", now)
            .header(
                "webhook-signature",
                signer.sign("delivery", now, signed.as_bytes()).unwrap(),
            );
        let response = request.body(body.to_owned()).send().await.unwrap();
        response.status()
    }
}

impl Drop for PageReceiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn event(id: &str, name: &str) -> Value {
    json!({
        "specversion": "1.0", "id": id, "source": "library-service", "subject": "/books/42",
        "type": format!("com.example.library.{name}.v1"), "data": {},
    })
}

#[tokio::test]
async fn the_receiver_of_the_page_gives_each_signed_event_one_effect() {
    let Some(receiver) = PageReceiver::start().await else {
        return;
    };
    let lent = event("1/copy_lent/0/0", "CopyLent").to_string();
    let own = receiver.secret.as_str();
    for _ in 0..2 {
        let status = receiver.post(own, &lent, &lent).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
    }
    let forged = lent.replace("CopyLent", "CopyLost");
    for (secret, signed) in [(own, &lent), (STRANGER, &forged)] {
        let status = receiver.post(secret, signed, &forged).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    let available = event("2/copy_returned/0/0", "CopyAvailable");
    let batch = json!([event("1/copy_lent/0/0", "CopyLent"), available]).to_string();
    let status = receiver.post(own, &batch, &batch).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(receiver.printed(), code_blocks(PAGE, "text")[0]);
}

#[tokio::test]
async fn the_receiver_of_the_page_learns_what_the_library_publishes() {
    let Some(receiver) = PageReceiver::start().await else {
        return;
    };
    let sinks = format!(
        "[sinks.page]\nwebhook = \"{}\"\nallow_private = true\nsecrets = [\"{}\"]\nstart = \"first\"\n\
         types = [\"com.example.library.CopyLent.v1\", \"com.example.library.CopyAvailable.v1\"]",
        receiver.url(),
        receiver.secret
    );
    fs::write(receiver.file("sinks.toml"), sinks).unwrap();
    let settings = receiver.file("sinks.toml").display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded_with(folder.path(), &[("SINKS_FILE", &settings)]);
    let (copy, reader) = (Uuid::new_v4(), Uuid::new_v4());
    for (path, command) in [
        ("books/purchase", book(copy)),
        ("readers/register", json!({ "id": reader, "name": "Ada" })),
        ("books/borrow", json!({ "id": copy, "reader": reader })),
        ("books/return", json!({ "id": copy })),
    ] {
        let response = post(&format!("{}/{path}", library.url), command.to_string()).await;
        assert!(response.status().is_success(), "{path}: {response:?}");
    }
    let expected = code_blocks(PAGE, "text")[0].replace("42", &copy.to_string());
    let arrived = async || (receiver.printed() == expected).then_some(());
    eventually("the public events arrive in their order", arrived).await;
}
