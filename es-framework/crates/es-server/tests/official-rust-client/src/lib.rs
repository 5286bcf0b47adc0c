//! The official client for Rust against processes of the program `event-store`.
//!
//! `cargo test` needs the path of the program in the variable `CARGO_BIN_EXE_event-store`:
//! `env CARGO_BIN_EXE_event-store=$PWD/target/debug/event-store cargo test --manifest-path …`.

#![cfg(test)]
#![allow(
    clippy::duplicate_mod,
    reason = "both versions of the API run the same tests"
)]

mod official_client_recursion;
mod official_clients_over_version_1;
mod official_clients_over_version_2;
mod served_client;
#[allow(dead_code, reason = "the tests of the program use more of it")]
#[path = "../../event_store/server_process.rs"]
mod server_process;
#[allow(dead_code, reason = "the tests of our own client use more of it")]
#[path = "../../../../es-store-client/src/tests/version_1_front.rs"]
mod version_1_front;
