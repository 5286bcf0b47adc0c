//! Requests over HTTP to a service of this machine.

use std::sync::OnceLock;

use reqwest::{Client, ClientBuilder, Response};
use serde_json::Value;

use super::eventually::PATIENCE;

/// Returns a new client with its own connections.
pub(crate) fn new_client() -> ClientBuilder {
    // Fails if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // To read the certificates of the system takes longer than most tests. No test trusts them.
    Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .timeout(PATIENCE)
}

pub(crate) fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    // A connection that a killed server left behind must not fail the next request, nor may one
    // that belongs to another test's runtime.
    CLIENT.get_or_init(|| new_client().pool_max_idle_per_host(0).build().unwrap())
}

pub(crate) async fn post(url: &str, body: impl Into<reqwest::Body>) -> Response {
    let request = client()
        .post(url)
        .header("content-type", "application/json");
    request.body(body).send().await.unwrap()
}

pub(crate) async fn get(url: &str) -> Response {
    client().get(url).send().await.unwrap()
}

pub(crate) async fn json_of(answer: Response) -> Value {
    serde_json::from_str(&answer.text().await.unwrap()).unwrap()
}
