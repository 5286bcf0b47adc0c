//! Tests of the program `event-store`: its commands, its protocol, and other clients of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod attacks;
mod command_line;
mod history;
#[cfg(target_os = "linux")]
mod idle;
mod linearizability;
mod official_architecturekit;
mod official_python_client;
mod official_rust_client;
#[cfg(feature = "postgres")]
mod postgres_engine;
mod program;
mod read_options;
mod server_process;
#[path = "../../../../tests/support/mod.rs"]
mod support;
mod surviving_client;
