//! The file `events.end` beside the database. SQLite takes a write-ahead log that is damaged or missing for
//! a shorter one, and this file shows that something is missing.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    database_error::{OpenError, SqliteError},
    row,
};
use es_event::Hash;
use es_store::{
    durable_end::{EndFile, EndRecord},
    event_row::parse_hash,
    write::ChainHead,
};

/// The shortest time between two flushes while events come. After a power failure, the file may lag by
/// as much; after a crash of the process, it does not lag.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
pub(super) const NAME: &str = "events.end";

/// Compares the events of a database with a record. An empty database has no tables yet.
pub(super) fn compare_end(
    record: &EndRecord,
    connection: &Connection,
    database: &Path,
    is_empty: bool,
) -> Result<(), OpenError> {
    let broken = |reason: String| OpenError::Database {
        file: database.to_owned(),
        reason,
    };
    let count = |statement| {
        if is_empty {
            Ok(0)
        } else {
            count(connection, statement).map_err(|error| broken(error.to_string()))
        }
    };
    let file = database.to_owned();
    let found = count("SELECT ifnull(max(id), -1) + 1 FROM events")?;
    if found < record.events {
        let expected = Some(record.events);
        return Err(OpenError::EventsMissing {
            file,
            found,
            expected,
        });
    }
    let found = count("SELECT count(*) FROM event_schemas")?;
    if found < record.schemas {
        let expected = record.schemas;
        return Err(OpenError::SchemasMissing {
            file,
            found,
            expected,
        });
    }
    let Some(last) = record.events.checked_sub(1) else {
        return Ok(());
    };
    let hash = hash_of(connection, last).map_err(|error| broken(error.to_string()))?;
    if hash == Some(record.hash) {
        return Ok(());
    }
    Err(broken(format!(
        "event {last} is another one than the event that was written: restore a backup, or \
         accept the loss with EVENT_STORE_ACCEPT_LOSS=true (--accept-loss)"
    )))
}

/// Refuses a directory whose database is missing although its other files show that it had one.
/// SQLite would create an empty database and delete the write-ahead log.
pub(super) fn check_file(database: &Path, accepts_loss: bool) -> Result<(), OpenError> {
    if database.exists() {
        return Ok(());
    }
    let log = database.with_extension("sqlite-wal");
    let has_log = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let expected = EndRecord::read(&end_file(database)).map_or(0, |record| record.events);
    if expected == 0 && !has_log {
        return Ok(());
    }
    accept(
        accepts_loss,
        Err(OpenError::EventsMissing {
            file: database.to_owned(),
            found: 0,
            expected: (expected > 0).then_some(expected),
        }),
    )
}

/// Refuses a database that has fewer events or schemas than the file says, or another last event.
pub(super) fn check_events(
    connection: &Connection,
    database: &Path,
    is_empty: bool,
    accepts_loss: bool,
) -> Result<(), OpenError> {
    let record = EndRecord::read(&end_file(database));
    let compared = record.map(|record| compare_end(&record, connection, database, is_empty));
    accept(accepts_loss, compared.unwrap_or(Ok(())))
}

/// Reports a loss that was accepted as a warning instead of an error.
fn accept(accepts_loss: bool, checked: Result<(), OpenError>) -> Result<(), OpenError> {
    match checked {
        Err(loss) if accepts_loss => {
            tracing::warn!(%loss, "the store starts without these events because the loss was accepted");
            Ok(())
        }
        checked => checked,
    }
}

/// Writes the file `events.end`.
#[derive(Debug)]
pub(super) struct EndFileWriter {
    file: EndFile,
    last_flush: Option<Instant>,
}

impl EndFileWriter {
    /// Creates the value for a database whose events were compared with the file.
    pub(super) fn new(database: &Path) -> Self {
        Self {
            file: EndFile::new(end_file(database)),
            last_flush: None,
        }
    }

    /// Writes the end of the chain and the number of schemas. The caller has flushed all of them.
    ///
    /// Each commit writes the file, but a flush takes as long as that of the commit itself. So the file is
    /// flushed at most once in an interval, and when the store is idle.
    pub(super) fn record_end(&mut self, head: &ChainHead, schemas: usize, is_idle: bool) {
        self.file.record(EndRecord::new(head, schemas));
        let is_recent = |last: Instant| last.elapsed() < FLUSH_INTERVAL;
        if !is_idle && self.last_flush.is_some_and(is_recent) {
            return;
        }
        if let Some(file) = self.file.take_unflushed() {
            self.file.report(file.sync_data());
            self.last_flush = Some(Instant::now());
        }
    }
}

fn end_file(database: &Path) -> PathBuf {
    database.with_file_name(NAME)
}

fn count(connection: &Connection, statement: &str) -> rusqlite::Result<u64> {
    let found = connection.query_row(statement, [], |row| row.get::<_, i64>(0))?;
    Ok(u64::try_from(found).unwrap_or_default())
}

fn hash_of(connection: &Connection, id: u64) -> Result<Option<Hash>, SqliteError> {
    let mut statement = connection.prepare("SELECT hash FROM events WHERE id = ?1")?;
    let hash = statement.query_row([row::number(id)], |row| row.get::<_, Vec<u8>>(0));
    Ok(hash.optional()?.and_then(|bytes| parse_hash(&bytes)))
}
