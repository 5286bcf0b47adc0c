//! Accepted uses of the macros, their diagnostics, an application outside the workspace, the
//! public API, and the links of the book.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod accepted;
#[path = "../../../es-framework/tests/support/cargo.rs"]
mod cargo;
mod diagnostics;
mod documentation;
mod outside_application;
mod public_api;
#[path = "../../../es-framework/tests/support/requirement.rs"]
#[expect(dead_code, reason = "no test here needs a program")]
mod requirement;
