//! The connection that writes, on threads that may block.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::{
    super::{DatabaseError, DatabaseUse},
    blocking::run_blocking,
    lease::WriteLease,
    sqlite_connection::{SqliteLocation, open_writer},
};

/// The one connection that writes.
#[derive(Debug, Clone)]
pub(super) struct SqliteWriter {
    connection: Arc<Mutex<Connection>>,
    lease: Arc<Mutex<Option<WriteLease>>>,
    location: SqliteLocation,
}

impl SqliteWriter {
    /// Opens the database, and creates it if it does not exist.
    pub(super) async fn open(
        location: SqliteLocation,
        database_use: DatabaseUse,
    ) -> Result<Self, DatabaseError> {
        run_blocking(move || {
            Ok(Self {
                connection: Arc::new(Mutex::new(open_writer(&location, database_use)?)),
                lease: Arc::default(),
                location,
            })
        })
        .await
    }

    /// Acquires the right to write, unless another process has it.
    pub(super) async fn try_acquire_lease(&self) -> Result<bool, DatabaseError> {
        let SqliteLocation::File(path) = self.location.clone() else {
            // No other process can open a database in memory.
            return Ok(true);
        };
        let lease = Arc::clone(&self.lease);
        run_blocking(move || {
            let mut lease = lease.lock().unwrap_or_else(PoisonError::into_inner);
            if lease.is_none() {
                *lease = WriteLease::try_acquire(&path)?;
            }
            Ok(lease.is_some())
        })
        .await
    }

    /// Gives up the right to write.
    pub(super) async fn release_lease(&self) {
        let lease = Arc::clone(&self.lease);
        // Only a panic ends the work early.
        let _ = run_blocking(move || {
            *lease.lock().unwrap_or_else(PoisonError::into_inner) = None;
            Ok(())
        })
        .await;
    }

    /// Runs statements on the connection.
    pub(super) async fn run_statements<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let connection = Arc::clone(&self.connection);
        let is_in_memory = self.location.is_in_memory();
        run_blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection).map_err(|error| match error {
                error if is_in_memory && error.is_full() => DatabaseError::Full,
                error => error,
            })
        })
        .await
    }
}
