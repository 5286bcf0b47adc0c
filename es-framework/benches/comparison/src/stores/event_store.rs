//! The stand-alone event store, over version 1 of its HTTP API.

use std::sync::Arc;

use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::{Purchase, Store};

#[derive(Clone)]
pub struct EventStoreClient {
    http: Client,
    url: Arc<str>,
}

impl EventStoreClient {
    pub fn new(port: u16) -> Self {
        let url = format!("http://127.0.0.1:{port}/api/v1").into();
        Self {
            http: Client::new(),
            url,
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        let request = self
            .http
            .post(format!("{}/{path}", self.url))
            .bearer_auth("secret");
        let response = request.json(body).send().await.unwrap();
        response.error_for_status().unwrap()
    }

    async fn write(&self, subject: &str, preconditions: Value) {
        let event = json!({
            "source": "comparison",
            "subject": subject,
            "type": Purchase::TYPE,
            "data": Purchase::example(),
        });
        let body = json!({ "events": [event], "preconditions": preconditions });
        self.post("write-events", &body)
            .await
            .bytes()
            .await
            .unwrap();
    }
}

impl Store for EventStoreClient {
    async fn append(&self, subject: &str, _: usize) {
        self.write(subject, json!([])).await;
    }

    async fn append_first(&self, subject: &str) {
        let pristine = json!({ "type": "isSubjectPristine", "payload": { "subject": subject } });
        self.write(subject, json!([pristine])).await;
    }

    async fn read(&self, subject: &str) -> usize {
        let body = json!({ "subject": subject, "options": { "recursive": false } });
        let lines = self.post("read-events", &body).await.bytes().await.unwrap();
        let lines = lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .count()
    }
}
