//! The event store's HTTP API, version 1, over any [`EventStore`](crate::store::EventStore): one file
//! per endpoint.

mod api_token;
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
pub(crate) mod tests;

pub use api_token::{ApiToken, InvalidApiToken};
pub use serve::serve;
pub use server_settings::{DialectName, ServerSettings};
pub use signing::{InvalidSigningKey, SigningKey};
