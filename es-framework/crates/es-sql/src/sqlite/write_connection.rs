//! The connection that writes, on threads that may block.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use es_store::secret_file;
use rusqlite::Connection;

use super::{
    super::DatabaseError,
    blocking::run_blocking,
    lease::WriteLease,
    sqlite_connection::{Durability, SqliteLocation, open_writer},
};

/// The one connection that writes.
#[derive(Debug, Clone)]
pub(super) struct SqliteWriter {
    connection: Arc<Mutex<Connection>>,
    lease: Arc<Mutex<Option<WriteLease>>>,
    location: SqliteLocation,
    /// The file, if its rows exist nowhere else.
    only_copy: Option<OpenedFile>,
}

/// A file as it was when it was opened.
#[derive(Debug, Clone)]
struct OpenedFile {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl OpenedFile {
    fn new(path: PathBuf) -> Self {
        let identity = secret_file::find_identity(&path);
        Self { path, identity }
    }

    /// Fails if the path leads to another file by now. SQLite goes on with the removed one, whose rows end with the process.
    fn check(&self) -> Result<(), DatabaseError> {
        if secret_file::find_identity(&self.path) == self.identity {
            return Ok(());
        }
        let reason = "it was removed or replaced while the application runs: put back the newest copy of it, and start again";
        Err(DatabaseError::File {
            path: self.path.clone(),
            source: io::Error::other(reason),
        })
    }
}

impl SqliteWriter {
    /// Opens the database, and creates it if it does not exist.
    pub(super) async fn open(
        location: SqliteLocation,
        durability: Durability,
    ) -> Result<Self, DatabaseError> {
        run_blocking(move || {
            let connection = Arc::new(Mutex::new(open_writer(&location, durability)?));
            let only_copy = match &location {
                SqliteLocation::File(path) if durability == Durability::Full => {
                    Some(OpenedFile::new(path.clone()))
                }
                _ => None,
            };
            Ok(Self {
                connection,
                lease: Arc::default(),
                location,
                only_copy,
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
    pub(super) async fn run_on_connection<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let connection = Arc::clone(&self.connection);
        let is_in_memory = self.location.is_in_memory();
        let only_copy = self.only_copy.clone();
        run_blocking(move || {
            only_copy.as_ref().map_or(Ok(()), OpenedFile::check)?;
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection).map_err(|error| match error {
                error if is_in_memory && error.is_full() => DatabaseError::Full,
                error => error,
            })
        })
        .await
    }
}
