//! The file `events.end`: the number of durable events, the hash of the last one, and the number of
//! schemas. SQLite takes a write-ahead log that is damaged or missing for a shorter one, and this file
//! shows that something is missing.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    database_error::{OpenError, SqliteError},
    row, stored_hash,
};
use es_event::Hash;
use es_store::write::ChainHead;

/// The shortest time between two flushes while events come. After a power failure, the file may lag by
/// as much; after a crash of the process, it does not lag.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
pub(super) const NAME: &str = "events.end";
/// The length of the file. It fits into one sector, so a crash leaves the old text or the new one.
const LENGTH: usize = 160;

/// The content of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EndRecord {
    events: u64,
    /// The hash of the last event.
    hash: Hash,
    schemas: u64,
}

impl EndRecord {
    pub(super) fn new(head: &ChainHead, schemas: usize) -> Self {
        Self {
            events: head.next.map_or(u64::MAX, |next| next.get()),
            hash: head.predecessor,
            schemas: u64::try_from(schemas).unwrap_or_default(),
        }
    }

    /// Returns the text of the file. Its checksum shows whether it was damaged itself.
    fn text(&self) -> String {
        let text = format!("{} {} {}", self.events, self.hash, self.schemas);
        let checksum = crc32fast::hash(text.as_bytes());
        let text = format!("{text} {checksum:08x}");
        format!("{text:<0$}\n", LENGTH.saturating_sub(1))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let record = Self {
            events: words.next()?.parse().ok()?,
            hash: words.next()?.parse().ok()?,
            schemas: words.next()?.parse().ok()?,
        };
        (record.text() == text).then_some(record)
    }

    /// Reads the file of a database. A damaged file is reported and counts as none: the events
    /// themselves are whole.
    fn read(database: &Path) -> Option<Self> {
        let file = database.with_file_name(NAME);
        let text = fs::read(&file).ok()?;
        let record = std::str::from_utf8(&text).ok().and_then(Self::parse);
        if record.is_none() {
            tracing::warn!(file = %file.display(), "the file is damaged, so the number of events is not checked");
        }
        record
    }

    /// Compares the events of a database with this record. An empty database has no tables yet.
    pub(super) fn compare(
        &self,
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
        if found < self.events {
            let expected = Some(self.events);
            return Err(OpenError::EventsMissing {
                file,
                found,
                expected,
            });
        }
        let found = count("SELECT count(*) FROM event_schemas")?;
        if found < self.schemas {
            let expected = self.schemas;
            return Err(OpenError::SchemasMissing {
                file,
                found,
                expected,
            });
        }
        let Some(last) = self.events.checked_sub(1) else {
            return Ok(());
        };
        let hash = hash_of(connection, last).map_err(|error| broken(error.to_string()))?;
        if hash == Some(self.hash) {
            return Ok(());
        }
        Err(broken(format!(
            "event {last} is another one than the event that was written: restore a backup, or \
             accept the loss with EVENT_STORE_ACCEPT_LOSS=true (--accept-loss)"
        )))
    }
}

/// Refuses a directory whose database is missing although its other files show that it had one.
/// SQLite would create an empty database and delete the write-ahead log.
pub(super) fn check_file(database: &Path, accepts_loss: bool) -> Result<(), OpenError> {
    if database.exists() {
        return Ok(());
    }
    let log = database.with_extension("sqlite-wal");
    let has_log = fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let expected = EndRecord::read(database).map_or(0, |record| record.events);
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
    let record = EndRecord::read(database);
    let compared = record.map(|record| record.compare(connection, database, is_empty));
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
    path: PathBuf,
    /// Open after the first write.
    file: Option<File>,
    written: Option<EndRecord>,
    is_flushed: bool,
    last_flush: Option<Instant>,
    has_failed: bool,
}

impl EndFileWriter {
    /// Creates the value for a database whose events were compared with the file.
    pub(super) fn new(database: &Path) -> Self {
        Self {
            path: database.with_file_name(NAME),
            file: None,
            written: EndRecord::read(database),
            is_flushed: true,
            last_flush: None,
            has_failed: false,
        }
    }

    /// Writes the end of the chain and the number of schemas. The caller has flushed all of them.
    ///
    /// Each commit writes the file, which costs about two microseconds, but a flush takes as long as that
    /// of the commit itself. So the file is flushed at most once in an interval, and when the store is
    /// idle.
    pub(super) fn record_end(&mut self, head: &ChainHead, schemas: usize, is_idle: bool) {
        let written = self.write(EndRecord::new(head, schemas), is_idle);
        if let Err(error) = &written
            && !self.has_failed
        {
            tracing::warn!(file = %self.path.display(), %error, "the number of events was not written");
        }
        self.has_failed = written.is_err();
    }

    fn write(&mut self, record: EndRecord, is_idle: bool) -> io::Result<()> {
        if self.written != Some(record) {
            let mut file = match self.file.take() {
                Some(file) => file,
                None => create(&self.path)?,
            };
            file.rewind()?;
            file.write_all(record.text().as_bytes())?;
            (self.file, self.written) = (Some(file), Some(record));
            self.is_flushed = false;
        }
        let is_recent = |last: Instant| last.elapsed() < FLUSH_INTERVAL;
        let is_due = is_idle || !self.last_flush.is_some_and(is_recent);
        if let Some(file) = &self.file
            && is_due
            && !self.is_flushed
        {
            file.sync_data()?;
            (self.is_flushed, self.last_flush) = (true, Some(Instant::now()));
        }
        Ok(())
    }
}

/// Opens the file for writing. Its name must be durable, too.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let is_new = !path.exists();
    let file = options.open(path)?;
    file.set_len(u64::try_from(LENGTH).unwrap_or_default())?;
    if let Some(directory) = path.parent().filter(|_| is_new) {
        File::open(directory)?.sync_all()?;
    }
    Ok(file)
}

fn count(connection: &Connection, statement: &str) -> rusqlite::Result<u64> {
    let found = connection.query_row(statement, [], |row| row.get::<_, i64>(0))?;
    Ok(u64::try_from(found).unwrap_or_default())
}

fn hash_of(connection: &Connection, id: u64) -> Result<Option<Hash>, SqliteError> {
    let mut statement = connection.prepare("SELECT hash FROM events WHERE id = ?1")?;
    let hash = statement.query_row([row::number(id)], |row| row.get::<_, Vec<u8>>(0));
    Ok(hash
        .optional()?
        .and_then(|bytes| stored_hash::parse_hash(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use es_event::HashVersion;

    #[test]
    fn a_damaged_record_is_none() {
        let record = EndRecord {
            events: 17,
            hash: Hash::from_bytes([9; 32]),
            schemas: 3,
        };
        let text = record.text();
        assert_eq!(EndRecord::parse(&text), Some(record));
        for bit in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let damaged = std::str::from_utf8(&bytes).ok().and_then(EndRecord::parse);
            assert_eq!(damaged, None, "bit {bit}");
        }
        assert_eq!(EndRecord::parse(""), None);
    }

    #[test]
    fn every_record_has_the_same_length() {
        for version in [HashVersion::V1, HashVersion::V2] {
            let hash = Hash::new(version, [9; 32]);
            for count in [0, u64::MAX] {
                let record = EndRecord {
                    events: count,
                    hash,
                    schemas: count,
                };
                assert_eq!(record.text().len(), LENGTH);
                assert_eq!(EndRecord::parse(&record.text()), Some(record));
            }
        }
    }
}
