//! The event store's HTTP API, version 1, over any [`EventStore`](es_store::EventStore): one file
//! per endpoint.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod auth;
pub mod cli;
mod conditional_write;
mod error_response;
mod event_lines;
mod json_body;
mod line_chunks;
mod ndjson;
mod openapi;
mod router;
mod serve;
mod server_settings;
mod signing;
mod state;
mod stored_lines;
mod v1;

#[cfg(test)]
mod tests;

pub use es_runtime::{ApiToken, DialectName, InvalidApiToken};
pub use serve::serve;
pub use server_settings::ServerSettings;
pub use signing::{InvalidSigningKey, SigningKey};
