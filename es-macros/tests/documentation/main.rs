//! Compares the pages of the book about the macros, and the examples of public items, with the source.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod expansion_page;
mod macros_page;
mod public_examples;
