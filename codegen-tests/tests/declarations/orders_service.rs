//! A process of `src/bin/orders.rs` and requests to it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

pub(crate) struct OrdersService {
    process: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl OrdersService {
    /// Starts it with these settings.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_orders"))
            .env_remove("RUST_LOG")
            .envs(settings.iter().copied())
            .args(["--http-port", "0", "--event-store-port", "0"])
            .arg("--event-store-data-dir")
            .arg(folder.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = log.find_map(|line| {
            let line = line.unwrap();
            let (_, url) = line.split_once("orders listens on http://")?;
            Some(url.trim().to_owned())
        });
        // A full pipe would block the process.
        std::thread::spawn(move || log.for_each(drop));
        Self {
            process,
            address: address.unwrap(),
            _folder: folder,
        }
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let content = format!(
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        self.send(&format!("POST {path}"), &content, body)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.send(&format!("GET {path}"), "", "")
    }

    /// Returns the status and the body of the response.
    fn send(&self, line: &str, headers: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        let request =
            format!("{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }
}

impl Drop for OrdersService {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
