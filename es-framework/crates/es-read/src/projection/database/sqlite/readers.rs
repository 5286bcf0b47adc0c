//! The connections that answer queries. Each query runs on a thread that may block.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{
    super::DatabaseError,
    blocking::run_blocking,
    sqlite_connection::{SqliteLocation, open_reader},
};

/// The time that a query waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of queries that run at once.
const CONNECTIONS: usize = 4;
/// The number of SQLite's virtual machine steps between two checks of the time limit, which take a
/// fraction of a millisecond.
const STEPS: i32 = 10_000;

/// A pool of connections that read.
#[derive(Debug, Clone)]
pub(super) struct SqliteReaders {
    location: SqliteLocation,
    query_time: Duration,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl SqliteReaders {
    pub(super) fn new(location: SqliteLocation, query_time: Duration) -> Self {
        Self {
            location,
            query_time,
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(CONNECTIONS)),
        }
    }

    /// Runs a query on one of the connections. SQLite interrupts the query when its time is over, or
    /// when the caller drops the returned future.
    pub(super) async fn run_query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let permit = Arc::clone(&self.permits).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(ACQUIRE_TIMEOUT, permit).await else {
            return Err(DatabaseError::Busy);
        };
        let caller = CancelOnDrop::default();
        let is_cancelled = Arc::clone(&caller.0);
        let readers = self.clone();
        run_blocking(move || {
            let _permit = permit;
            let mut connection = readers.connection()?;
            let (begin, limit) = (Instant::now(), readers.query_time);
            let is_over = move || is_cancelled.load(Ordering::Relaxed) || begin.elapsed() >= limit;
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

/// Cancels a query when its caller is gone.
#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
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
        readers.run_query(query).await
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
        assert_eq!(readers.run_query::<i64>(one).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_query_ends_when_its_caller_is_gone() {
        let readers = readers(Duration::from_secs(600));
        let brief = Duration::from_millis(20);
        for _ in 0..CONNECTIONS {
            let result = tokio::time::timeout(brief, count(&readers)).await;
            assert!(result.is_err(), "{result:?}");
        }
        let all = u32::try_from(CONNECTIONS).unwrap();
        let permits = readers.permits.acquire_many(all);
        let permits = tokio::time::timeout(Duration::from_secs(10), permits).await;
        assert!(permits.is_ok(), "a query goes on");
    }
}
