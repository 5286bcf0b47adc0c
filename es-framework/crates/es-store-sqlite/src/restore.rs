//! Restores the events of a backup into an empty directory, exactly as they were recorded.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    slice,
};

use rusqlite::Connection;

use super::{
    database_error::{OpenError, SqliteError},
    database_format,
    directory::{DATABASE, DataDirectory, LOCK},
    recent, row, startup,
    store_settings::EngineSettings,
};
use es_event::{EventId, EventType, RecordedEvent};
use es_store::{
    Chain, EventSchema,
    backup::{BackupLine, RestoreCheck, RestoreFlaw, RestoredLine},
    event_row::compute_schema_checksum,
};

/// The size of the events of one transaction in bytes. A longer transaction would make the write-ahead log grow.
const BATCH_BYTES: usize = 8 << 20;
/// The name of the file until all events are restored. An incomplete file must not look like a store.
const UNFINISHED: &str = "restoring.sqlite";

/// A restore in progress. Dropping it before [`Restore::finish`] removes its files, unless it was begun
/// with [`Restore::resume`].
///
/// ```
/// use es_event::Hash;
/// use es_store::backup::{BackupLine, EndMark};
/// use es_store_sqlite::Restore;
///
/// let folder = tempfile::tempdir()?;
/// let mut restore = Restore::begin(&folder.path().join("data"))?;
/// // For each line of a backup, the last of which is its end mark.
/// restore.add_line(BackupLine::End(EndMark::default()))?;
/// assert_eq!(restore.finish()?.hash(), Hash::ZERO);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Restore {
    directory: PathBuf,
    connection: Option<Connection>,
    settings: EngineSettings,
    types: BTreeSet<EventType>,
    /// The size of the events since the last commit.
    uncommitted_bytes: usize,
    check: RestoreCheck,
    lock: Option<DataDirectory>,
}

/// The reason why a backup was not restored.
///
/// ```
/// use es_store_sqlite::{Restore, RestoreError};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("events.sqlite"), "something")?;
/// assert!(matches!(Restore::begin(folder.path()), Err(RestoreError::NotEmpty(_))));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The directory is not empty.
    #[error("{} is not empty: restore into a new directory", .0.display())]
    NotEmpty(PathBuf),
    /// The lines are not those that were written.
    #[error("the backup {0}")]
    Backup(#[from] RestoreFlaw),
    /// The store cannot be written.
    #[error("cannot write the store: {0}")]
    Disk(String),
}

impl From<SqliteError> for RestoreError {
    fn from(error: SqliteError) -> Self {
        Self::Disk(error.to_string())
    }
}

impl From<rusqlite::Error> for RestoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Disk(error.to_string())
    }
}

impl From<io::Error> for RestoreError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error.to_string())
    }
}

impl Restore {
    /// Begins a restore into a missing or empty directory.
    ///
    /// # Errors
    /// The directory is not empty or cannot be used.
    pub fn begin(directory: &Path) -> Result<Self, RestoreError> {
        if !is_empty(directory)? {
            return Err(RestoreError::NotEmpty(directory.to_owned()));
        }
        let lock = DataDirectory::create_and_lock(directory)?;
        // An earlier attempt that was killed leaves these files.
        remove(directory);
        Self::open(directory, lock, |_| RestoreCheck::of_backup())
    }

    /// Accepts that the backup has no end mark, as earlier versions wrote it. Its end may be missing then. An end mark
    /// that does not fit is still refused, and so is a backup without any line.
    ///
    /// ```
    /// use es_store::backup::RestoreFlaw;
    /// use es_store_sqlite::{Restore, RestoreError};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let empty = Restore::begin(&folder.path().join("data"))?.accept_missing_end();
    /// assert!(matches!(empty.finish(), Err(RestoreError::Backup(RestoreFlaw::NoEnd))));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn accept_missing_end(mut self) -> Self {
        self.check.accept_missing_end();
        self
    }

    /// Continues a restore that was interrupted, or begins one. An interruption of this one leaves its
    /// files for the next.
    ///
    /// # Errors
    /// The directory holds something else or cannot be used.
    pub fn resume(directory: &Path) -> Result<Self, RestoreError> {
        if !is_empty(directory)? {
            return Err(RestoreError::NotEmpty(directory.to_owned()));
        }
        let lock = DataDirectory::create_and_lock(directory)?;
        Self::open(directory, lock, RestoreCheck::of_store)
    }

    fn open(
        directory: &Path,
        lock: DataDirectory,
        check: impl FnOnce(Chain) -> RestoreCheck,
    ) -> Result<Self, RestoreError> {
        let directory = directory.to_owned();
        let settings = EngineSettings::default();
        let connection = database_format::open_writer(&directory.join(UNFINISHED), &settings)?;
        let head = startup::load_head(&connection)?;
        let events = head.next.map_or(u64::MAX, EventId::get);
        let types = startup::load_catalogue(&connection)?.event_types();
        connection.execute_batch("BEGIN")?;
        Ok(Self {
            directory,
            connection: Some(connection),
            settings,
            types: types
                .into_iter()
                .filter(|known| !known.is_phantom)
                .map(|known| known.event_type)
                .collect(),
            uncommitted_bytes: 0,
            check: check(Chain::at(events, head.predecessor)),
            lock: Some(lock),
        })
    }

    /// Returns the number of events restored so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.check.chain().events()
    }

    /// Returns the end of the chain, behind which the restore continues.
    #[must_use]
    pub const fn chain(&self) -> &Chain {
        self.check.chain()
    }

    /// Restores the next line of the backup.
    ///
    /// # Errors
    /// The line breaks the hash chain or cannot be written.
    pub fn add_line(&mut self, line: BackupLine) -> Result<(), RestoreError> {
        match self.check.check_line(line)? {
            Some(RestoredLine::Event(event)) => self.add_event(&event),
            Some(RestoredLine::Schema(event_type, schema)) => self.add_schema(&event_type, &schema),
            None => Ok(()),
        }
    }

    fn add_schema(
        &mut self,
        event_type: &EventType,
        schema: &EventSchema,
    ) -> Result<(), RestoreError> {
        let schema = schema.json().get();
        let checksum = compute_schema_checksum(event_type, schema);
        self.connection()?.execute(
            "INSERT OR IGNORE INTO event_schemas (type, schema, checksum) VALUES (?1, ?2, ?3)",
            (event_type.as_str(), schema, checksum),
        )?;
        Ok(())
    }

    fn add_event(&mut self, event: &RecordedEvent) -> Result<(), RestoreError> {
        let is_new = self.types.insert(event.event_type.clone());
        let connection = self.connection()?;
        row::insert_event(&mut row::prepare_insert(connection)?, event)?;
        if is_new {
            connection.execute(
                "INSERT INTO event_types (type, first_event) VALUES (?1, ?2)",
                (event.event_type.as_str(), row::number(event.id.get())),
            )?;
        }
        let size = recent::estimate_size(slice::from_ref(event));
        self.uncommitted_bytes = self.uncommitted_bytes.saturating_add(size);
        if self.uncommitted_bytes >= BATCH_BYTES {
            self.connection()?.execute_batch("COMMIT; BEGIN")?;
            self.uncommitted_bytes = 0;
        }
        Ok(())
    }

    fn connection(&self) -> Result<&Connection, RestoreError> {
        let closed = || RestoreError::Disk("it is closed".into());
        self.connection.as_ref().ok_or_else(closed)
    }

    /// Makes the restored store durable. Returns the end of its hash chain.
    ///
    /// # Errors
    /// The backup has no end mark, or the store cannot be written.
    pub fn finish(mut self) -> Result<Chain, RestoreError> {
        self.check.check_end()?;
        let connection = self.connection()?;
        connection.execute_batch("COMMIT")?;
        // Writes most of the index to disk now. Otherwise the first start would do it.
        startup::load_log(connection, &self.settings)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        drop(self.connection.take());
        let to = self.directory.join(DATABASE);
        fs::rename(self.directory.join(UNFINISHED), &to)?;
        File::open(&self.directory)?.sync_all()?;
        Ok(self.chain().clone())
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        drop(self.connection.take());
        if !self.check.is_copy() {
            remove(&self.directory);
        }
        drop(self.lock.take());
    }
}

/// Returns true if the folder contains nothing but the files of an earlier attempt.
fn is_empty(directory: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name != LOCK && !name.starts_with(UNFINISHED) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn remove(directory: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        // A missing file need not be removed.
        let _ = fs::remove_file(directory.join(format!("{UNFINISHED}{suffix}")));
    }
}
