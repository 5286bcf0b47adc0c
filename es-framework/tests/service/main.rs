//! A service as its clients, its operators and attackers meet it over HTTP. The application is the same in all tests.
//! It runs in this process, except where the process is the point.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod authentication;
mod books;
mod calendar_days;
mod changed_meanwhile;
mod console_pages;
mod dry_run;
mod durable_queries;
#[path = "../support/eventually.rs"]
mod eventually;
mod flood;
#[path = "../support/http_client.rs"]
mod http_client;
mod injection;
mod instance_takeover;
mod limits;
mod live_queries;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../support/live_query.rs"]
mod live_query;
mod malformed_requests;
mod many_commands;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../support/memory.rs"]
mod memory;
mod metrics;
mod open_service;
mod operators;
mod outage;
mod path_fields;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../support/postgres_server.rs"]
mod postgres_server;
mod postgres_store;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../support/process.rs"]
mod process;
mod public_operations;
mod raw_http;
mod refused_start;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../support/requirement.rs"]
mod requirement;
mod running_service;
mod service_process;
mod sinks;
mod store_server;
mod telemetry;
mod title_search;
mod tls_and_headers;
#[path = "../support/tls_identity.rs"]
mod tls_identity;
mod trace_collector;
