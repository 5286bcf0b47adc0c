//! The tests of the official client for Rust over version 2 of the API.

use crate::server_process::ServerProcess;

pub const IS_VERSION_2: bool = true;

/// Starts a server with these additional arguments.
pub async fn start(arguments: &[&str]) -> ServerProcess {
    ServerProcess::temporary(&[&["--dialect=event"], arguments].concat())
}

#[path = "official_client.rs"]
mod official_client;
#[path = "official_client_catalogue.rs"]
mod official_client_catalogue;
#[path = "official_client_queries.rs"]
mod official_client_queries;
