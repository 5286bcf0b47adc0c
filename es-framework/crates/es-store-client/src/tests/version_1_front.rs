//! A server of version 1 only: it passes requests on to another server, except those of version 2.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{Router, body::Body, extract::Request, http::StatusCode, response::Response};
use reqwest::Client;
use tokio::net::TcpListener;

/// The front of a server.
#[derive(Debug)]
pub(super) struct Version1Front {
    pub(super) url: String,
    /// Passes requests of version 2 on as well, as after an upgrade.
    pub(super) is_upgraded: Arc<AtomicBool>,
}

impl Version1Front {
    pub(super) async fn of(server: SocketAddr) -> Self {
        let is_upgraded = Arc::new(AtomicBool::new(false));
        let upgraded = Arc::clone(&is_upgraded);
        let client = Client::builder().no_proxy().build().unwrap();
        let router = Router::new().fallback(move |request: Request| {
            let (client, upgraded) = (client.clone(), upgraded.load(Ordering::Relaxed));
            async move {
                if request.uri().path().starts_with("/api/v2") && !upgraded {
                    let unknown = Response::builder().status(StatusCode::NOT_FOUND);
                    return unknown.body(Body::empty()).unwrap();
                }
                forward(&client, server, request).await
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, router).await });
        Self { url, is_upgraded }
    }
}

async fn forward(client: &Client, server: SocketAddr, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let url = format!("http://{server}{}", parts.uri.path());
    let passed = client
        .request(parts.method, url)
        .headers(parts.headers)
        .body(reqwest::Body::wrap_stream(body.into_data_stream()));
    let answered = passed.send().await.unwrap();
    let mut response = Response::builder().status(answered.status());
    *response.headers_mut().unwrap() = answered.headers().clone();
    response
        .body(Body::from_stream(answered.bytes_stream()))
        .unwrap()
}
