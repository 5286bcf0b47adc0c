//! Tests of the API through a real socket.

mod bounds;
mod broken_store;
mod catalogue;
mod limits;
mod line_chunks;
mod management;
mod observe;
mod protocol;
mod query;
mod read;
mod repeated_members;
mod subjects;
mod version_2;
mod version_2_errors;
mod write;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::timeout};

use super::{serve::serve, server_settings::ServerSettings};
use es_event::Dialect;
use es_store::{EventStore, memory::MemoryStore};

pub(crate) const TOKEN: &str = "secret-token";

/// A server on a free port, which stops when it is dropped.
#[derive(Debug)]
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
    client: Client,
}

/// Far longer than any answer takes: a server that hangs fails instead of blocking the run.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

impl TestServer {
    pub(crate) async fn start(dialect: Dialect) -> Self {
        Self::with(MemoryStore::new(), |settings| settings.dialect = dialect).await
    }

    pub(crate) async fn with(
        store: impl EventStore,
        change: impl FnOnce(&mut ServerSettings),
    ) -> Self {
        let mut settings = ServerSettings::new(TOKEN.parse().unwrap());
        change(&mut settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let served = tokio::spawn(serve(listener, Arc::new(store), settings, shutdown));
        es_net::tls::install_cryptography();
        Self {
            address,
            stop: Some(stop),
            served,
            client: Client::builder()
                .no_proxy()
                .tls_certs_only([])
                .timeout(LIMIT)
                .build()
                .unwrap(),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) async fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        timeout(LIMIT, &mut self.served).await.unwrap().unwrap();
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url()))
    }

    fn post(&self, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.url());
        self.client.post(url).bearer_auth(TOKEN)
    }

    async fn send(&self, route: &str, body: &Value) -> Response {
        let request = self.post(&format!("/api/v1/{route}"));
        request.body(body.to_string()).send().await.unwrap()
    }

    /// Writes events named `io.example.test` with an empty object, one write each.
    async fn fill(&self, subjects: &[&str]) {
        for subject in subjects {
            let body = json!({"events": [candidate(subject)]});
            assert_eq!(self.send("write-events", &body).await.status(), 200);
        }
    }

    /// Returns the status and the text of a response.
    async fn answer(&self, route: &str, body: &Value) -> (u16, String) {
        let response = self.send(route, body).await;
        (response.status().as_u16(), response.text().await.unwrap())
    }

    /// Returns the ids of the events that a read returns.
    async fn ids(&self, body: &Value) -> Vec<String> {
        let (status, text) = self.answer("read-events", body).await;
        assert_eq!(status, 200, "{text}");
        text.lines().map(id_of).collect()
    }
}

fn candidate(subject: &str) -> Value {
    json!({"source": "tag:test", "subject": subject, "type": "io.example.test", "data": {}})
}

fn id_of(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap();
    let payload = &line["payload"];
    let event = payload.get("event").unwrap_or(payload);
    event["id"].as_str().unwrap().to_owned()
}
