//! PostgreSQL: the servers of a database, the connections to them, and the statements on these.

mod connections;
mod database_servers;
mod parameters;
mod postgres_database;
mod primary_pool;
mod reader_pool;
mod remedy;
mod retry_schedule;
mod server_race;
mod server_settings;
mod transaction_pool;

pub use super::database_error::error_code;
pub use database_servers::{DatabaseServers, server_name};
pub use postgres_database::PostgresDatabase;
pub use primary_pool::PrimaryPool;
pub(crate) use reader_pool::SCANS;
pub use remedy::{Remedy, remedy};
pub use retry_schedule::RetrySchedule;
pub use server_race::{ACCEPTS_WRITES, accepts_writes, first_success};
pub use server_settings::{UnsafeServer, find_unsafe_setting};
pub use transaction_pool::{explain_pool, refuse_transaction_pool};
