//! The options for opening a store in PostgreSQL.

use std::time::Duration;

/// The options for opening a store in PostgreSQL.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use es_store_postgres::{PostgresStore, PostgresStoreOptions};
///
/// let mut options = PostgresStoreOptions::default();
/// options.skip_verification = true;
/// let address = "postgres://library@db-1,db-2/library".parse()?;
/// let store = PostgresStore::open_with_options(address, options).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresStoreOptions {
    /// True for a program that ends soon: the start does not verify the newest events.
    pub skip_verification: bool,
    /// The time between two looks at the log, for events that no notification announced; by default a second.
    #[doc(hidden)]
    pub poll_time: Option<Duration>,
}
