//! Checkpoints of the write-ahead log while the store writes. A commit that made one would wait for the flush of the
//! database, and all callers with it.

use std::{
    ffi::c_int,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread::JoinHandle,
};

use rusqlite::{Connection, OpenFlags, hooks::Wal};

use super::EventWriter;
use crate::{
    database_error::{BatchFailure, SqliteError},
    database_format,
};

/// The length of the write-ahead log, and the thread that copies it into the database.
#[derive(Debug, Default)]
pub(super) struct LogCheckpoint {
    /// The number of pages in the log after the last commit.
    pages: Arc<AtomicU32>,
    thread: Option<JoinHandle<rusqlite::Result<()>>>,
}

impl LogCheckpoint {
    /// Counts the pages that a connection writes. The connection makes no checkpoint by itself any longer.
    pub(super) fn count_pages(&self, connection: &mut Connection) -> rusqlite::Result<()> {
        let pages = Arc::clone(&self.pages);
        connection.wal_hook(Some(move |_: &mut Wal, length: c_int| {
            pages.store(u32::try_from(length).unwrap_or(u32::MAX), Ordering::Relaxed);
            Ok(())
        }))
    }

    /// Waits for the thread.
    pub(super) fn finish(&mut self) -> Result<(), SqliteError> {
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(copied)) => Ok(copied?),
            Some(Err(_)) => Err(SqliteError::Unopened("its checkpoint has a bug".into())),
        }
    }
}

impl EventWriter {
    /// Copies a long log into the database on a thread beside this one. Then copies the few pages that came meanwhile, after
    /// which the log begins again at its start.
    pub(super) fn checkpoint_while_busy(&mut self) {
        let length = self.log_checkpoint.pages.load(Ordering::Relaxed);
        let checkpoint = match &self.log_checkpoint.thread {
            Some(thread) if thread.is_finished() => self.checkpoint("PASSIVE"),
            None if length >= self.settings.checkpoint_pages => self.start_checkpoint(),
            Some(_) | None => Ok(()),
        };
        if let Err(failure) = checkpoint {
            self.record_failure("the write-ahead log was not copied", &failure);
        }
    }

    fn start_checkpoint(&mut self) -> Result<(), BatchFailure> {
        let file = self.shared.file.clone();
        let thread = std::thread::Builder::new().name("event-checkpoint".into());
        let started = thread.spawn(move || copy_log(&file));
        let started = started.map_err(|error| SqliteError::Unopened(error.to_string()))?;
        self.log_checkpoint.thread = Some(started);
        Ok(())
    }

    /// Makes a checkpoint on this thread, if something was written since the last one.
    pub(super) fn checkpoint(&mut self, mode: &str) -> Result<(), BatchFailure> {
        self.log_checkpoint.finish()?;
        if std::mem::take(&mut self.has_written) {
            let statement = format!("PRAGMA wal_checkpoint({mode})");
            self.connection.query_row(&statement, [], |_| Ok(()))?;
        }
        Ok(())
    }
}

/// Copies the pages of the log that no reader needs, and flushes the database.
fn copy_log(file: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    database_format::keep_log(&connection, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
