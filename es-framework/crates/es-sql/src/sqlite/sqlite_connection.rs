//! The connections to a SQLite database and their settings.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use es_store::secret_file;
use rusqlite::{Connection, OpenFlags};

/// The time that a statement waits for the transaction of another connection.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The size limit of a database in memory in bytes. SQLite refuses the transaction that exceeds it.
const MEMORY_LIMIT: u32 = 1 << 30;
const PAGE: u32 = 4_096;
/// The page cache of the connection that writes a file, in KiB.
const CACHE_KIB: i32 = 32 << 10;
/// The number of prepared statements that a connection caches.
const STATEMENTS: usize = 128;

/// The place of a database.
#[derive(Debug, Clone)]
pub(crate) enum SqliteLocation {
    /// In memory, under a name that the connections of this process share.
    Memory(String),
    /// In a file.
    File(PathBuf),
}

impl SqliteLocation {
    /// Returns the location of a new database in memory.
    pub(crate) fn unique_in_memory() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self::Memory(format!("/database-{number}"))
    }

    pub(super) const fn is_in_memory(&self) -> bool {
        matches!(self, Self::Memory(_))
    }
}

/// The effect of a power cut on the last transactions of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It may remove them, because their rows follow from events.
    Rebuildable,
    /// They stay, because their rows exist nowhere else.
    Full,
}

/// Opens the connection that writes, and creates the database if it does not exist.
pub(super) fn open_writer(
    location: &SqliteLocation,
    durability: Durability,
) -> Result<Connection, rusqlite::Error> {
    if let SqliteLocation::File(path) = location {
        secret_file::secure_database(path).map_err(|error| cannot_open(&error))?;
    }
    let connection = open(location)?;
    // Rows may hold personal data or keys, which an erasure removes from the pages as well.
    if durability == Durability::Full || !location.is_in_memory() {
        connection.execute_batch("PRAGMA secure_delete = ON")?;
    }
    if location.is_in_memory() {
        connection.pragma_update(None, "page_size", PAGE)?;
        connection.execute_batch("PRAGMA journal_mode = MEMORY")?;
        let pages = MEMORY_LIMIT.checked_div(PAGE).unwrap_or(MEMORY_LIMIT);
        connection.pragma_update(None, "max_page_count", pages)?;
    } else {
        connection.execute_batch("PRAGMA journal_mode = WAL")?;
        let synchronous = match durability {
            Durability::Rebuildable => "NORMAL",
            Durability::Full => "FULL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "cache_size", CACHE_KIB.wrapping_neg())?;
    }
    Ok(connection)
}

/// Converts an error of the file system to the error that SQLite has for it.
fn cannot_open(error: &std::io::Error) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
    rusqlite::Error::SqliteFailure(code, Some(error.to_string()))
}

/// Removes what earlier states of the rows left in the write-ahead log.
pub(super) fn truncate_log(connection: &Connection) -> Result<(), rusqlite::Error> {
    let statement = "PRAGMA wal_checkpoint(TRUNCATE)";
    let is_busy = connection.query_row(statement, [], |row| row.get(0))?;
    if is_busy {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        let reason = "a query still reads the write-ahead log: try it again".to_owned();
        return Err(rusqlite::Error::SqliteFailure(code, Some(reason)));
    }
    Ok(())
}

/// Opens a connection that only reads.
pub(super) fn open_reader(location: &SqliteLocation) -> Result<Connection, rusqlite::Error> {
    let connection = open(location)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn open(location: &SqliteLocation) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match location {
        SqliteLocation::Memory(name) => Connection::open_with_flags_and_vfs(name, flags, "memdb")?,
        SqliteLocation::File(path) => Connection::open_with_flags(path, flags)?,
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn a_log_that_a_query_reads_is_not_reported_as_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteLocation::File(folder.path().join("stock.db"));
        let connection = open_writer(&file, Durability::Rebuildable).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        let reader = open_reader(&file).unwrap();
        let begin = "BEGIN; SELECT * FROM t";
        reader.execute_batch(begin).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        assert!(truncate_log(&connection).is_err());
        reader.execute_batch("COMMIT").unwrap();
        truncate_log(&connection).unwrap();
    }

    #[test]
    fn only_the_owner_can_read_the_files_of_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stock.db");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let file = SqliteLocation::File(file);
        let connection = open_writer(&file, Durability::Full).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        let files = fs::read_dir(folder.path()).unwrap();
        let modes: Vec<_> = files
            .map(|file| file.unwrap().metadata().unwrap().permissions().mode() & 0o777)
            .collect();
        assert_eq!(modes, [0o600; 3]);
    }

    #[test]
    fn a_database_in_a_missing_folder_is_refused_with_a_reason() {
        let file = SqliteLocation::File("/nowhere/stock.db".into());
        let error = open_writer(&file, Durability::Full)
            .unwrap_err()
            .to_string();
        assert!(error.contains("No such file"), "{error}");
    }
}
