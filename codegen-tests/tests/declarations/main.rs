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
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../es-framework/tests/support/postgres_server.rs"]
mod postgres_server;
#[path = "../../../es-framework/tests/support/processor_time.rs"]
mod processor_time;
mod reaction_instances;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../es-framework/tests/support/requirement.rs"]
mod requirement;
mod start_checks;
mod validation;
