//! Read models in each database: in SQLite, and in a real PostgreSQL server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

mod aggregates;
mod composite_keys;
mod computed_keys;
mod event_of_several_rows;
#[path = "../../../../tests/support/eventually.rs"]
mod eventually;
mod filled_database;
mod hidden_column_queries;
mod integer_spellings;
mod joined_pages;
mod long_names;
mod long_texts;
mod missing_values;
mod note_board;
mod person_rows;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/postgres_server.rs"]
mod postgres_server;
mod refused_rows;
mod refused_rows_in_batches;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/requirement.rs"]
mod requirement;
mod running_read_model;
mod sort_choices;
mod spellings;
mod substring_search;
mod unsuitable_databases;
mod visible_columns;
