//! The event store's HTTP API, versions 1 and 2, over any [`EventStore`](es_store::EventStore): one file
//! per endpoint.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod api_error;
mod auth;
pub mod cli;
mod conditional_write;
mod envelope;
mod error_code;
mod event_lines;
mod json_body;
mod line_chunks;
mod ndjson;
mod observation;
mod openapi;
mod query_rows;
mod read_range;
mod response_event;
mod router;
mod serve;
mod server_settings;
mod signing;
mod single_envelope;
mod source;
mod state;
mod stored_lines;
mod stream_format;
mod strict_object;
mod v1;
mod v2;
mod written_subject;

#[cfg(test)]
mod tests;

pub use es_net::{ApiToken, InvalidApiToken};
pub use serve::serve;
pub use server_settings::ServerSettings;
pub use signing::{InvalidSigningKey, SigningKey};
