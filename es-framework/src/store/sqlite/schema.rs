//! The database's format, its versions, and how connections to it are set up.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{error::OpenError, settings::Settings};

/// "ESEV" in the file's header, so that `file` and we know the file again.
const APPLICATION_ID: i64 = 0x4553_4556;

/// The format that is written. Every earlier one is brought up to it when it is opened.
pub(super) const VERSION: i64 = 3;

/// The index has its subjects packed (see [`pack`](super::key::pack)). `index_state.indexed` is the number of events, from the first, that `subject_index` covers. Later
/// events may be in it already, or not.
const VERSION_1: &str = "
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        subject TEXT NOT NULL,
        type TEXT NOT NULL,
        source TEXT NOT NULL,
        time TEXT NOT NULL,
        traceparent TEXT,
        tracestate TEXT,
        predecessor_hash BLOB NOT NULL,
        hash BLOB NOT NULL,
        data TEXT NOT NULL
    ) STRICT;
    CREATE TABLE subject_index (
        subject BLOB NOT NULL,
        event_id INTEGER NOT NULL,
        PRIMARY KEY (subject, event_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE index_state (indexed INTEGER NOT NULL) STRICT;
    INSERT INTO index_state VALUES (0);
";

/// The types of all events, each with its first event, and the schemas. Opening must not look at
/// every event to know them.
const VERSION_2: &str = "
    CREATE TABLE event_types (
        type TEXT PRIMARY KEY,
        first_event INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO event_types SELECT type, min(id) FROM events GROUP BY type;
    CREATE TABLE event_schemas (
        type TEXT PRIMARY KEY,
        schema TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// The index by type (see [`types`](super::types)). `index_state.typed` is the number of events,
/// from the first, that it covers. It is filled while the store works: a large file opens at once.
const VERSION_3: &str = "
    CREATE TABLE type_index (
        type INTEGER NOT NULL,
        block INTEGER NOT NULL,
        events BLOB NOT NULL,
        PRIMARY KEY (type, block)
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE index_state ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
";

/// Opens the database for the writer, and makes or upgrades its tables.
pub(super) fn open_writer(file: &Path, settings: &Settings) -> Result<Connection, OpenError> {
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::Foreign {
            file: file.to_owned(),
            found: "it is not a SQLite database",
        },
        _ => OpenError::Database {
            file: file.to_owned(),
            reason: error.to_string(),
        },
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    // Before anything is written: a file of somebody else stays as it is.
    let version = version(&connection, file).map_err(failed)??;
    if connection.is_readonly("main").map_err(failed)? {
        return Err(OpenError::Database {
            file: file.to_owned(),
            reason: "it may not be written".into(),
        });
    }
    set_up(&connection, settings).map_err(failed)?;
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0));
    if mode.map_err(failed)? != "wal" {
        return Err(OpenError::Database {
            file: file.to_owned(),
            reason: "its file system cannot share memory, which the write-ahead log needs".into(),
        });
    }
    if version < VERSION {
        upgrade(&connection, version).map_err(failed)?;
    }
    Ok(connection)
}

/// The version of a file that is ours; 0 for an empty one.
fn version(connection: &Connection, file: &Path) -> rusqlite::Result<Result<i64, OpenError>> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match (application, version, tables) {
        (0, 0, 0) => Ok(0),
        (APPLICATION_ID, found, _) if found > VERSION => Err(OpenError::Newer {
            file: file.to_owned(),
            found,
            known: VERSION,
        }),
        (APPLICATION_ID, 1.., _) => Ok(version),
        _ => Err(OpenError::Foreign {
            file: file.to_owned(),
            found: "it is a database of another program",
        }),
    })
}

/// `FULL`, since in WAL mode only that flushes each commit. The log is as large as it gets after the
/// first checkpoints and is then written in place, which a file system flushes in half the time
/// that a growing file takes.
fn set_up(connection: &Connection, settings: &Settings) -> rusqlite::Result<()> {
    connection.busy_timeout(settings.lock_wait)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", settings.checkpoint_pages)?;
    connection.pragma_update(None, "journal_size_limit", settings.log_bytes)?;
    set_cache(connection, settings.writer_cache_kib)
}

/// A negative size is one in KiB.
fn set_cache(connection: &Connection, kib: u32) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", i64::from(kib).saturating_neg())
}

/// From the version that was found, 0 for none, to the current one. All or nothing.
fn upgrade(connection: &Connection, found: i64) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    for (version, statements) in [(1, VERSION_1), (2, VERSION_2), (3, VERSION_3)] {
        if found < version {
            transaction.execute_batch(statements)?;
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Opens the database for reading.
pub(super) fn open_reader(file: &Path, settings: &Settings) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(settings.lock_wait)?;
    set_cache(&connection, settings.reader_cache_kib)?;
    Ok(connection)
}
