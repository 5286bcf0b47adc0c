//! Tests of the running program. They are one binary, so that what they share is compiled once.
//! `cargo test -p library-app --test library security::` runs one folder of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod contract;
mod durability;
mod operations;
mod security;
mod service;
mod support;
