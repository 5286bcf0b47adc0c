//! Live queries, as a client reads them.

use reqwest::{Response, StatusCode};
use serde_json::Value;

use super::{eventually::PATIENCE, http_client::new_client};

/// A server-sent event with a result.
#[derive(Debug)]
pub(crate) struct ServerSentEvent {
    pub(crate) id: String,
    pub(crate) data: Value,
}

/// A live query that a client has open.
pub(crate) struct LiveQuery {
    answer: Response,
    text: String,
}

impl LiveQuery {
    pub(crate) async fn open(service: &str, path: &str) -> Self {
        let answer = request_stream(service, path, None).await;
        assert_eq!(answer.status(), StatusCode::OK);
        Self::of(answer)
    }

    pub(crate) fn of(answer: Response) -> Self {
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let text = String::new();
        Self { answer, text }
    }

    /// Returns the next block up to an empty line; `None` at the end of the stream.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.answer.chunk());
            let chunk = chunk.await.expect("something comes").unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// Returns the next result.
    pub(crate) async fn next(&mut self) -> ServerSentEvent {
        loop {
            let block = self.block().await.expect("the stream goes on");
            let field = |name: &str| {
                let mut lines = block.lines();
                lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            };
            if let Some(data) = field("data") {
                let data = serde_json::from_str(data).unwrap();
                let id = field("id").unwrap().to_owned();
                return ServerSentEvent { id, data };
            }
        }
    }

    /// Reads results up to the expected one.
    pub(crate) async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> ServerSentEvent {
        loop {
            let sent = self.next().await;
            if is_it(&sent.data) {
                return sent;
            }
        }
    }
}

/// Sends the request of a live query to the service at this URL.
pub(crate) async fn request_stream(
    service: &str,
    path: &str,
    last_event_id: Option<&str>,
) -> Response {
    let client = new_client().build().unwrap();
    let mut request = client.get(format!("{service}{path}"));
    request = request.header("accept", "text/event-stream");
    if let Some(id) = last_event_id {
        request = request.header("last-event-id", id);
    }
    request.send().await.unwrap()
}
