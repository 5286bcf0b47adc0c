//! The one access to SQLite and PostgreSQL. The crate is a part of the framework, not of its API.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

mod cell;
mod database_error;
mod database_url;
mod database_use;
mod fetched_rows;
#[cfg(feature = "postgres")]
#[doc(hidden)]
pub mod postgres;
mod query_cost;
mod shared_database;
mod sql_database;
mod sqlite;
mod statement;
mod transaction;

pub use cell::{Cell, CellType};
pub use database_error::DatabaseError;
pub use database_url::{DatabaseUrl, InvalidDatabaseUrl};
pub use database_use::DatabaseUse;
pub use fetched_rows::FetchedRows;
pub use query_cost::QueryCost;
pub use shared_database::SharedDatabase;
pub use sql_database::{Engine, SqlDatabase};
pub use sqlite::SqliteDatabase;
pub use statement::Statement;
