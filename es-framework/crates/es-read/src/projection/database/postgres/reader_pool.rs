//! The connections that answer queries.

use std::time::Duration;

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// The time that a query waits for a connection.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of queries that run at once.
const READERS: u32 = 8;

/// The connections that read.
#[derive(Debug)]
pub(super) struct ReaderPool {
    pub(super) pool: PgPool,
    /// The number of the server in the URL.
    pub(super) server: usize,
}

impl ReaderPool {
    /// Creates a pool that connects when a query needs a connection.
    pub(super) fn new(options: &PgConnectOptions, server: usize, query_time: &str) -> Self {
        let pool = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_lazy_with(options.clone().options([
                ("default_transaction_read_only", "on"),
                ("statement_timeout", query_time),
                // A generic plan for a text search reads all rows.
                ("plan_cache_mode", "force_custom_plan"),
            ]));
        Self { pool, server }
    }
}
