//! The tests of the official client for Rust over version 2 of the API.

use std::net::SocketAddr;

pub const IS_VERSION_2: bool = true;

/// The URL of a server.
pub async fn url_of(server: SocketAddr) -> String {
    format!("http://{server}")
}

#[path = "official_client.rs"]
mod official_client;
#[path = "official_client_catalogue.rs"]
mod official_client_catalogue;
#[path = "official_client_queries.rs"]
mod official_client_queries;
