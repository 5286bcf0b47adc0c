//! The event store's HTTP API, version 1, over any [`EventStore`](es_store::EventStore): one file
//! per endpoint.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod auth;
mod backup;
pub mod cli;
mod conditional_write;
mod diagnostics;
mod error_response;
mod event_lines;
mod event_types;
mod health;
mod json_body;
mod line_chunks;
mod ndjson;
mod observe_events;
mod openapi;
mod options;
mod ping;
mod read_events;
mod read_subjects;
mod register_event_schema;
mod router;
mod run_eventql_query;
mod serve;
mod server_settings;
mod signing;
mod state;
mod stored_lines;
mod verify_api_token;
mod verify_store;
mod write_events;

#[cfg(test)]
mod tests;

pub use es_runtime::{ApiToken, DialectName, InvalidApiToken};
pub use serve::serve;
pub use server_settings::ServerSettings;
pub use signing::{InvalidSigningKey, SigningKey};
