//! The connections that answer queries.

use std::time::Duration;

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::super::QueryCost;

/// The time that a query waits for a connection.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of expensive queries that run at once.
pub(crate) const SCANS: u32 = 8;
/// The number of lookups by key that run at once.
const LOOKUPS: u32 = 4;

/// The connections that read. A cheap query has connections of its own, so that it never waits for an expensive
/// one.
#[derive(Debug)]
pub(super) struct ReaderPool {
    probe: PgPool,
    lookups: PgPool,
    scans: PgPool,
    /// The position of the server among those that the URL lists, from 0.
    pub(super) server: usize,
}

impl ReaderPool {
    /// Creates pools that connect when a query needs a connection.
    pub(super) fn new(options: &PgConnectOptions, server: usize, query_time: &str) -> Self {
        let pool = |connections| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(ACQUIRE_TIMEOUT)
                .connect_lazy_with(options.clone().options([
                    ("default_transaction_read_only", "on"),
                    ("statement_timeout", query_time),
                    // A generic plan for a text search reads all rows.
                    ("plan_cache_mode", "force_custom_plan"),
                ]))
        };
        Self {
            probe: pool(1),
            lookups: pool(LOOKUPS),
            scans: pool(SCANS),
            server,
        }
    }

    /// Returns the connections for statements of this cost.
    pub(super) const fn for_cost(&self, cost: QueryCost) -> &PgPool {
        match cost {
            QueryCost::Probe => &self.probe,
            QueryCost::Lookup => &self.lookups,
            QueryCost::Page | QueryCost::Aggregate => &self.scans,
        }
    }
}
