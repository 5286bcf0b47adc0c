//! The program `cargo-es`, as somebody uses it: its errors, the format of its files, an application that
//! is compiled and run, the tutorial, and what it makes from a description.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

#[path = "../../../es-framework/tests/support/cargo.rs"]
mod cargo;
mod client_helper;
mod contract;
mod errors;
mod generated_application;
mod key_store;
#[path = "../../../es-framework/tests/support/requirement.rs"]
mod requirement;
mod running_service;
mod scratch_folder;
mod shared_build;
mod source_format;
mod tutorial;
