//! Declarations at run time: descriptors, schemas, validation, settings, reactions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod conflicting_settings;
mod declared_items;
mod endless_query;
mod orders_service;
mod reaction_instances;
mod validation;
