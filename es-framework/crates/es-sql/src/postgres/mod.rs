//! The connections to the servers of a PostgreSQL database.

mod database_servers;
mod remedy;
mod retry_schedule;
mod server_race;
mod server_settings;
mod transaction_pool;

pub use database_servers::{DatabaseServers, PrimaryConnection, server_urls};
pub use remedy::{Remedy, error_code, is_aborted, remedy};
pub use retry_schedule::RetrySchedule;
pub use server_race::{ACCEPTS_WRITES, accepts_writes, first_success};
pub use server_settings::{UnsafeServer, find_unsafe_setting};
pub use transaction_pool::{TransactionPool, explain_pool, refuse_transaction_pool};
