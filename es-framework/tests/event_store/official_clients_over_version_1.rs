//! The tests of the official client for Rust over version 1 of the API.

use std::net::SocketAddr;

use crate::version_1_front::Version1Front;

pub const IS_VERSION_2: bool = false;

/// The URL by which clients find only version 1 of a server.
pub async fn url_of(server: SocketAddr) -> String {
    Version1Front::of(server).await.url
}

#[path = "official_client.rs"]
mod official_client;
#[path = "official_client_catalogue.rs"]
mod official_client_catalogue;
#[path = "official_client_queries.rs"]
mod official_client_queries;
