//! The connections that answer queries. Each query runs on a thread that may block.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{
    super::{DatabaseError, QueryCost},
    blocking::run_blocking,
    sqlite_connection::{SqliteLocation, open_reader},
};

/// The time that a query waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of expensive queries that run at once.
pub(crate) const SCANS: u32 = 4;
/// The number of lookups by key that run at once.
const LOOKUPS: usize = 4;
/// The number of SQLite's virtual machine steps between two checks of the time limit, which take a
/// fraction of a millisecond.
const STEPS: i32 = 10_000;

/// A pool of connections that read.
#[derive(Debug, Clone)]
pub(super) struct SqliteReaders {
    location: SqliteLocation,
    query_time: Duration,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<ReaderPermits>,
}

/// The permits of queries. A cheap query has permits of its own, so that it never waits for an expensive one.
#[derive(Debug)]
struct ReaderPermits {
    probe: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
    scans: Arc<Semaphore>,
}

impl ReaderPermits {
    fn for_cost(&self, cost: QueryCost) -> &Arc<Semaphore> {
        match cost {
            QueryCost::Probe => &self.probe,
            QueryCost::Lookup => &self.lookups,
            QueryCost::Page | QueryCost::Aggregate => &self.scans,
        }
    }
}

impl Default for ReaderPermits {
    fn default() -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        Self {
            probe: permits(1),
            lookups: permits(LOOKUPS),
            scans: permits(usize::try_from(SCANS).unwrap_or(1)),
        }
    }
}

impl SqliteReaders {
    pub(super) fn new(location: SqliteLocation, query_time: Duration) -> Self {
        Self {
            location,
            query_time,
            idle: Arc::default(),
            permits: Arc::default(),
        }
    }

    /// Runs a query on one of the connections. SQLite interrupts the query when its time is over, or
    /// when the caller drops the returned future.
    pub(super) async fn run_query<T: Send + 'static>(
        &self,
        cost: QueryCost,
        query: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let permit = Arc::clone(self.permits.for_cost(cost)).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(ACQUIRE_TIMEOUT, permit).await else {
            return Err(DatabaseError::Busy);
        };
        let cancelled = CancellationToken::new();
        let _caller = cancelled.clone().drop_guard();
        let readers = self.clone();
        run_blocking(move || {
            let _permit = permit;
            let mut connection = readers.connection()?;
            let (begin, limit) = (Instant::now(), readers.query_time);
            let is_over = move || cancelled.is_cancelled() || begin.elapsed() >= limit;
            connection.progress_handler(STEPS, Some(is_over))?;
            let result = query(&connection);
            let mut idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(connection);
            Ok(result?)
        })
        .await
    }

    /// Returns an idle connection or a new one.
    fn connection(&self) -> Result<Connection, rusqlite::Error> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        match idle.pop() {
            Some(connection) => Ok(connection),
            None => open_reader(&self.location),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts for hours.
    const ENDLESS: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

    fn readers(query_time: Duration) -> SqliteReaders {
        let location = SqliteLocation::unique_in_memory();
        SqliteReaders::new(location, query_time)
    }

    async fn count(readers: &SqliteReaders) -> Result<i64, DatabaseError> {
        let query = |connection: &Connection| connection.query_row(ENDLESS, [], |row| row.get(0));
        readers.run_query(QueryCost::Page, query).await
    }

    #[tokio::test]
    async fn a_query_ends_with_its_time() {
        let readers = readers(Duration::from_millis(20));
        let result = count(&readers).await;
        assert!(
            matches!(result, Err(DatabaseError::TooExpensive)),
            "{result:?}"
        );
        let one = |connection: &Connection| connection.query_row("SELECT 1", [], |row| row.get(0));
        assert_eq!(
            readers
                .run_query::<i64>(QueryCost::Page, one)
                .await
                .unwrap(),
            1
        );
    }

    #[tokio::test]
    async fn cheap_queries_do_not_wait_for_expensive_ones() {
        let readers = readers(Duration::from_secs(600));
        let scans = (0..10 * SCANS).map(|_| count(&readers));
        let mut scans = std::pin::pin!(futures_util::future::join_all(scans));
        let brief = Duration::from_millis(100);
        assert!(tokio::time::timeout(brief, &mut scans).await.is_err());
        for cost in [QueryCost::Probe, QueryCost::Lookup] {
            let one =
                |connection: &Connection| connection.query_row("SELECT 1", [], |row| row.get(0));
            let cheap = readers.run_query::<i64>(cost, one);
            let answer = tokio::time::timeout(Duration::from_secs(3), cheap).await;
            assert!(matches!(answer, Ok(Ok(1))), "{cost:?} {answer:?}");
        }
    }

    #[tokio::test]
    async fn a_query_ends_when_its_caller_is_gone() {
        let readers = readers(Duration::from_secs(600));
        let brief = Duration::from_millis(20);
        for _ in 0..SCANS {
            let result = tokio::time::timeout(brief, count(&readers)).await;
            assert!(result.is_err(), "{result:?}");
        }
        let permits = readers.permits.scans.acquire_many(SCANS);
        let permits = tokio::time::timeout(Duration::from_secs(10), permits).await;
        assert!(permits.is_ok(), "a query goes on");
    }
}
