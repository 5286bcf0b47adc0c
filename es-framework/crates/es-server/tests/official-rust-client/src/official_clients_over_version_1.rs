//! The tests of the official client for Rust over version 1 of the API.

use crate::{server_process::ServerProcess, version_1_front::Version1Front};

pub const IS_VERSION_2: bool = false;

/// Starts a server with these additional arguments. Clients find only version 1 of it by its URL.
pub async fn start(arguments: &[&str]) -> ServerProcess {
    let mut server = ServerProcess::temporary(&[&["--dialect=event"], arguments].concat());
    let address = server.url.strip_prefix("http://").unwrap();
    server.url = Version1Front::of(address.parse().unwrap()).await.url;
    server
}

#[path = "official_client.rs"]
mod official_client;
#[path = "official_client_catalogue.rs"]
mod official_client_catalogue;
#[path = "official_client_queries.rs"]
mod official_client_queries;
