//! Tests of the program `event-store`: its commands, its protocol, and other clients of it.

#![allow(
    clippy::duplicate_mod,
    reason = "both versions of the API run the same tests of the official client"
)]
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
mod official_client_recursion;
mod official_clients_over_version_1;
mod official_clients_over_version_2;
mod official_python_client;
#[cfg(feature = "postgres")]
mod postgres_engine;
mod program;
mod read_options;
mod server_process;
#[path = "../support/mod.rs"]
mod support;
mod surviving_client;
#[allow(dead_code, reason = "the tests of the client use more of it")]
#[path = "../../crates/es-store-client/src/tests/version_1_front.rs"]
mod version_1_front;
