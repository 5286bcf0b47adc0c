//! A client together with its server.

use std::ops::Deref;

use eventsourcingdb::Client;

use crate::server_process::{ServerProcess, TOKEN};

/// A client and its server, a process that ends with it.
pub struct ServedClient {
    client: Client,
    pub server: ServerProcess,
}

impl ServedClient {
    pub fn of(server: ServerProcess) -> Self {
        let client = Client::new(server.url.parse().unwrap(), TOKEN);
        Self { client, server }
    }
}

impl Deref for ServedClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
