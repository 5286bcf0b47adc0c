//! Requests as bytes, for requests that no client library sends.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

/// A response, with its head as text.
#[derive(Debug)]
pub(crate) struct RawResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl RawResponse {
    /// Returns a header's value if the header exists.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }

    /// The end of the problem's type; everything that belongs to a problem is there.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem: Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem["status"], self.status, "{problem}");
        for member in ["title", "detail"] {
            assert!(
                problem[member]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
            );
        }
        let kind = problem["type"].as_str().unwrap();
        kind.strip_prefix("tag:es-framework,2026:problem:")
            .unwrap()
            .to_owned()
    }
}

/// A connection to `http://…`.
pub(crate) fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Sends these bytes on a new connection; returns `None` if it ends without a response.
pub(crate) fn send(url: &str, request: impl AsRef<[u8]>) -> Option<RawResponse> {
    let mut stream = connect(url);
    // The server may have rejected the request before it read all bytes.
    let _ = stream.write_all(request.as_ref());
    answer(&mut stream)
}

/// `GET` of a path that is sent as it is.
pub(crate) fn get(url: &str, path: &str) -> RawResponse {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    send(url, request).unwrap_or_else(|| panic!("no answer to {path}"))
}

/// Reads the next response on a connection, up to its Content-Length or to the end.
pub(crate) fn answer(stream: &mut TcpStream) -> Option<RawResponse> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let status = head.split(' ').nth(1)?.parse().unwrap();
            let mut answer = RawResponse {
                status,
                head,
                body: bytes[end + 4..].to_vec(),
            };
            let length = answer
                .header("content-length")
                .map_or(0, |text| text.parse().unwrap());
            while answer.body.len() < length && read(stream, &mut answer.body) {}
            return Some(answer);
        }
        if !read(stream, &mut bytes) {
            return None;
        }
    }
}

/// Reads more bytes; returns false at the end of the connection.
fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> bool {
    let mut buffer = [0; 8192];
    match stream.read(&mut buffer) {
        Ok(count) => {
            bytes.extend(&buffer[..count]);
            count > 0
        }
        Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
        Err(error) => panic!("the server neither answers nor ends the connection: {error}"),
    }
}
