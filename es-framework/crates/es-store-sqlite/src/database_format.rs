//! The database format, its versions, and the settings of connections.

use std::{fmt, path::Path};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use super::{database_error::OpenError, row, startup, store_settings::EngineSettings};
use es_store::{secret_file, write::ChainHead};

/// "ESEV" in the header of the file, by which `file` and this store recognize it.
const APPLICATION_ID: i64 = 0x4553_4556;

/// The current format. A file of an earlier format is upgraded when it is opened.
pub(super) const VERSION: i64 = 7;

/// `index_state.indexed` is the number of events, from the first, that `subject_index` covers. Later
/// events may be in it or not.
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

/// Adds the types of all events, each with its first event, and the schemas.
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

/// Adds an index by type, in blocks. Version 4 replaces it.
const VERSION_3: &str = "
    CREATE TABLE type_index (
        type INTEGER NOT NULL,
        block INTEGER NOT NULL,
        events BLOB NOT NULL,
        PRIMARY KEY (type, block)
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE index_state ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
";

/// Makes one index for subjects, the subjects above them, and types. The start fills it from the first
/// event on: it commits every part together with `indexed`, so that a crash loses no more than one
/// part, and entries of subjects that are in the table already stay as they are.
const VERSION_4: &str = "
    ALTER TABLE subject_index RENAME TO event_index;
    ALTER TABLE event_index RENAME COLUMN subject TO key;
    DROP TABLE type_index;
    ALTER TABLE index_state DROP COLUMN typed;
    UPDATE index_state SET indexed = 0;
";

/// Changes no table: hashes can have version 2, which an older program would report as broken.
const VERSION_5: &str = "";

/// Adds the checksums of events and schemas. Those of earlier versions have none. The hashes of such
/// events are checked instead.
const VERSION_6: &str = "
    ALTER TABLE events ADD COLUMN checksum INTEGER;
    ALTER TABLE event_schemas ADD COLUMN checksum INTEGER;
";

/// Adds the table of damage. While it has damage that no operator accepts, the log takes no events.
const VERSION_7: &str = "
    CREATE TABLE damage (
        place TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        accepted INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// Opens the database for the writer, or creates it, and creates or upgrades its tables.
pub(super) fn open_writer(file: &Path, settings: &EngineSettings) -> Result<Connection, OpenError> {
    // SQLite gives the write-ahead log and its index the mode of the file.
    secret_file::create_if_missing(file).map_err(|error| unusable(file, &error))?;
    open_existing_file(file, settings, |_, _| true)
}

/// Opens the database again after a failure. Refuses a file without the events that this process knows
/// to be durable: its volume may be detached, and the path then leads to an empty or an older directory.
pub(super) fn reopen_writer(
    file: &Path,
    settings: &EngineSettings,
    head: &ChainHead,
) -> Result<Connection, OpenError> {
    if !file.exists() {
        return Err(OpenError::Database {
            file: file.to_owned(),
            reason: "it is missing: check whether its volume is mounted, or restore a backup"
                .into(),
        });
    }
    open_existing_file(file, settings, |connection, is_empty| {
        let Some(last) = head.next.and_then(|next| next.get().checked_sub(1)) else {
            return true;
        };
        !is_empty && startup::holds_event(connection, row::number(last), head.predecessor)
    })
}

fn unusable(file: &Path, error: &dyn fmt::Display) -> OpenError {
    OpenError::Database {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}

/// Opens a database that exists. `has_log` says before anything is written whether it has the right events; it receives
/// true if the database has no tables yet.
fn open_existing_file(
    file: &Path,
    settings: &EngineSettings,
    has_log: impl FnOnce(&Connection, bool) -> bool,
) -> Result<Connection, OpenError> {
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::Foreign {
            file: file.to_owned(),
            found: "it is not a SQLite database",
        },
        _ => unusable(file, &error),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    // The checks come before any write: a file of another program and a damaged one stay unchanged.
    keep_log(&connection, true).map_err(failed)?;
    let version = version(&connection, file).map_err(failed)??;
    if !has_log(&connection, version == 0) {
        return Err(OpenError::Database {
            file: file.to_owned(),
            reason: "it lacks the last event that was stored: check whether its volume is mounted"
                .into(),
        });
    }
    keep_log(&connection, false).map_err(failed)?;
    if connection.is_readonly("main").map_err(failed)? {
        return Err(OpenError::Database {
            file: file.to_owned(),
            reason: "it may not be written".into(),
        });
    }
    // Earlier versions created the files with the mode of the process.
    secret_file::secure_database(file).map_err(|error| unusable(file, &error))?;
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

/// Sets whether the write-ahead log stays as it is when the connection is closed. Nothing of a damaged
/// store is overwritten.
pub(super) fn keep_log(connection: &Connection, keeps: bool) -> rusqlite::Result<()> {
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(no_checkpoint, keeps)?;
    Ok(())
}

/// Returns the format version of a file of this store; 0 for an empty file.
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

/// Sets up the writer's connection. In WAL mode only `FULL` flushes each commit. The write-ahead log
/// keeps its size after a checkpoint: a file system flushes a file that is overwritten in half the time
/// of a file that grows.
fn set_up(connection: &Connection, settings: &EngineSettings) -> rusqlite::Result<()> {
    connection.busy_timeout(settings.lock_wait)?;
    connection.set_prepared_statement_cache_capacity(32);
    keep_plans(connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", settings.checkpoint_pages)?;
    connection.pragma_update(None, "journal_size_limit", settings.log_bytes)?;
    set_cache(connection, settings.writer_cache_kib)
}

/// Keeps the plan of each prepared statement. SQLite would otherwise prepare a statement again whenever one of
/// its ranges or limits changes, which takes an eighth of the time of a short read.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Sets the page cache. SQLite takes a negative size as KiB.
fn set_cache(connection: &Connection, kib: u32) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", i64::from(kib).saturating_neg())
}

/// Upgrades the tables from a version, 0 for an empty file, to the current one in one transaction.
fn upgrade(connection: &Connection, found: i64) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    for (version, statements) in [
        (1, VERSION_1),
        (2, VERSION_2),
        (3, VERSION_3),
        (4, VERSION_4),
        (5, VERSION_5),
        (6, VERSION_6),
        (7, VERSION_7),
    ] {
        if found < version {
            transaction.execute_batch(statements)?;
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Opens the database for reading.
pub(super) fn open_reader(file: &Path, settings: &EngineSettings) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(settings.lock_wait)?;
    keep_plans(&connection)?;
    set_cache(&connection, settings.reader_cache_kib)?;
    Ok(connection)
}
