//! Snapshots: the states of long subjects, stored in a SQLite file across restarts.
//!
//! A snapshot only saves time. It is used only by the build that wrote it, because another build may
//! fold events differently, and only while its last event is still in the store. An error of the
//! file is logged, and the events are read instead.

mod erasures;

use std::{
    collections::HashSet,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use es_store::secret_file;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::{Evolve, LastEvent};
use es_event::{EventId, Subject, UnreadableValue};

/// The highest number of snapshots. Beyond it, the oldest ones are deleted.
const MAX_SNAPSHOTS: usize = 10_000;
/// The longest state that is stored, in bytes of JSON.
const MAX_LENGTH: usize = 1024 * 1024;
/// The longest wait for another process that locks the file.
const LOCK_WAIT: Duration = Duration::from_secs(1);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS snapshots (
        number INTEGER PRIMARY KEY,
        program BLOB NOT NULL,
        name TEXT NOT NULL,
        event_id INTEGER NOT NULL,
        event_hash TEXT NOT NULL,
        state TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX IF NOT EXISTS snapshots_name ON snapshots (name);
    DROP TABLE IF EXISTS erasure;
    CREATE TABLE IF NOT EXISTS last_erasure (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), hash TEXT NOT NULL) STRICT;
";

/// A file with snapshots, created with the first one. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{command::CommandResources, state::Snapshots, store::memory::MemoryStore};
///
/// let snapshots = Snapshots::in_file("data/snapshots.sqlite".into());
/// let resources = CommandResources::new(Arc::new(MemoryStore::new()), "library-service").with_snapshots(snapshots);
/// ```
#[derive(Clone)]
pub struct Snapshots {
    file: Arc<Path>,
    database: Arc<Mutex<Option<SnapshotDatabase>>>,
    names: SnapshotNames,
}

/// The names of the stored snapshots. Most subjects have none, and this set answers that without
/// waiting for the disk or for the database lock.
type SnapshotNames = Arc<Mutex<HashSet<String>>>;

/// The open file with snapshots.
struct SnapshotDatabase {
    connection: Connection,
    program: [u8; 32],
    names: SnapshotNames,
}

/// The reason why a snapshot cannot be read or written.
#[derive(Debug, thiserror::Error)]
enum SnapshotError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("the state is not read back as it is written: {0}")]
    Unreadable(#[from] UnreadableValue),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Invalid(&'static str),
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshots").field(&self.file).finish()
    }
}

impl Snapshots {
    /// Returns the snapshots of this file, which need not exist yet.
    #[must_use]
    pub fn in_file(file: PathBuf) -> Self {
        let snapshots = Self {
            file: file.into(),
            database: Arc::default(),
            names: Arc::default(),
        };
        if snapshots.file.exists() {
            snapshots.with_database("opened", |_| Ok(()));
        }
        snapshots
    }

    /// Returns the stored state of a subject and its last event. Returns `None` if there is no
    /// snapshot or it cannot be read.
    pub(super) async fn load_snapshot<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Option<(S, LastEvent)> {
        let name = name(S::DECLARATION.module, S::NAME, subject, recursive);
        let (json, latest) = self.read_snapshot(name, SnapshotDatabase::load).await?;
        let state = serde_json::from_str(&json).map_err(SnapshotError::from);
        self.log_error("read", state).map(|state| (state, latest))
    }

    /// Returns the last event of the stored state of this module and name. Returns `None` if there is no snapshot or
    /// it cannot be read.
    #[doc(hidden)]
    pub async fn load_last_event_id(
        &self,
        module: &str,
        state: &str,
        subject: &Subject,
        recursive: bool,
    ) -> Option<EventId> {
        let name = name(module, state, subject, recursive);
        self.read_snapshot(name, SnapshotDatabase::load_last_event)
            .await
    }

    /// Reads a part of the snapshot with this name. Returns `None` if there is none or it cannot be read.
    async fn read_snapshot<T: Send + 'static>(
        &self,
        name: String,
        read: fn(&SnapshotDatabase, &str) -> Result<Option<T>, SnapshotError>,
    ) -> Option<T> {
        if !lock(&self.names).contains(&name) {
            return None;
        }
        let snapshots = self.clone();
        let read = move || {
            snapshots
                .with_database("read", |database| read(database, &name))
                .flatten()
        };
        tokio::task::spawn_blocking(read).await.ok().flatten()
    }

    pub(super) fn save<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        state: &S,
        latest: LastEvent,
        is_current: impl FnOnce() -> bool + Send + 'static,
    ) {
        // A state that is read back as another one would lead to other decisions.
        let json = es_event::encode_readable(state).map_err(SnapshotError::from);
        let Some(json) = self.log_error("written", json) else {
            return;
        };
        let json: Box<str> = json.into();
        if json.len() > MAX_LENGTH {
            tracing::debug!(%subject, bytes = json.len(), "a state is too long for a snapshot");
            return;
        }
        let name = name(S::DECLARATION.module, S::NAME, subject, recursive);
        let snapshots = self.clone();
        tokio::task::spawn_blocking(move || {
            snapshots.with_database("written", |database| {
                // An erasure of personal data may have deleted all snapshots meanwhile.
                if is_current() {
                    database.save(name, &json, latest)?;
                }
                Ok(())
            })
        });
    }

    /// Runs an action on the database, which is opened before the first one. An error is logged.
    fn with_database<T>(
        &self,
        what: &str,
        act: impl FnOnce(&SnapshotDatabase) -> Result<T, SnapshotError>,
    ) -> Option<T> {
        let mut guard = lock(&self.database);
        let done = match &mut *guard {
            Some(database) => act(database),
            none => {
                let names = Arc::clone(&self.names);
                SnapshotDatabase::open(&self.file, names)
                    .and_then(|opened| act(none.insert(opened)))
            }
        };
        self.log_error(what, done)
    }

    fn log_error<T>(&self, what: &str, result: Result<T, SnapshotError>) -> Option<T> {
        let file = self.file.display();
        result
            .inspect_err(|error| tracing::warn!(%file, %error, "a snapshot cannot be {what}"))
            .ok()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the name of the snapshot of a state.
fn name(module: &str, state: &str, subject: &Subject, recursive: bool) -> String {
    let below = if recursive { "/**" } else { "" };
    format!("{module}::{state} {subject}{below}")
}

impl SnapshotDatabase {
    /// Opens or creates the file, and deletes the snapshots of other builds.
    fn open(file: &Path, names: SnapshotNames) -> Result<Self, SnapshotError> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        secret_file::secure_database(file)?;
        let connection = Connection::open(file)?;
        connection.busy_timeout(LOCK_WAIT)?;
        // A crash may lose a snapshot, because the events are still there.
        connection.execute_batch(
            "PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;",
        )?;
        connection.execute_batch(SCHEMA)?;
        let program = hash_running_program()?;
        connection.execute("DELETE FROM snapshots WHERE program <> ?1", [&program])?;
        *lock(&names) = connection
            .prepare("SELECT name FROM snapshots")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(Self {
            connection,
            program,
            names,
        })
    }

    fn load(&self, name: &str) -> Result<Option<(String, LastEvent)>, SnapshotError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT state, event_id, event_hash FROM snapshots WHERE name = ?1 AND program = ?2",
        )?;
        let columns = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, String>(2)?,
            ))
        };
        let row = statement
            .query_row(params![name, self.program], columns)
            .optional()?;
        let Some((json, id, hash)) = row else {
            return Ok(None);
        };
        let id = u64::try_from(id).ok().and_then(EventId::new);
        let latest = id
            .zip(hash.parse().ok())
            .map(|(id, hash)| LastEvent { id, hash });
        let latest = latest.ok_or(SnapshotError::Invalid("its last event is missing"))?;
        Ok(Some((json, latest)))
    }

    fn load_last_event(&self, name: &str) -> Result<Option<EventId>, SnapshotError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT event_id FROM snapshots WHERE name = ?1 AND program = ?2")?;
        let id = statement
            .query_row(params![name, self.program], |row| row.get::<_, i64>(0))
            .optional()?;
        Ok(id.and_then(|id| u64::try_from(id).ok().and_then(EventId::new)))
    }

    fn save(&self, name: String, json: &str, latest: LastEvent) -> Result<(), SnapshotError> {
        let is_full = {
            let names = lock(&self.names);
            names.len() >= MAX_SNAPSHOTS && !names.contains(&name)
        };
        if is_full {
            self.delete_oldest()?;
        }
        let id = i64::try_from(latest.id.get()).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO snapshots (program, name, event_id, event_hash, state) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        statement.execute(params![
            self.program,
            name,
            id,
            latest.hash.to_string(),
            json
        ])?;
        drop(statement);
        lock(&self.names).insert(name);
        Ok(())
    }

    /// Deletes the oldest tenth.
    fn delete_oldest(&self) -> Result<(), SnapshotError> {
        let mut statement = self.connection.prepare_cached(
            "DELETE FROM snapshots WHERE number IN \
             (SELECT number FROM snapshots ORDER BY number LIMIT ?1) RETURNING name",
        )?;
        let oldest = i64::try_from(MAX_SNAPSHOTS / 10).unwrap_or(i64::MAX);
        let deleted = statement.query_map([oldest], |row| row.get::<_, String>(0))?;
        for name in deleted {
            lock(&self.names).remove(&name?);
        }
        Ok(())
    }
}

/// Returns the hash of the running program's file, which identifies the build. `/proc/self/exe`
/// refers to the started file even after a newer one replaced it.
fn hash_running_program() -> Result<[u8; 32], SnapshotError> {
    struct Sha256Writer(Sha256);

    impl io::Write for Sha256Writer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let own = Path::new("/proc/self/exe");
    let file = if own.exists() {
        own.to_owned()
    } else {
        std::env::current_exe()?
    };
    let mut writer = Sha256Writer(Sha256::new());
    io::copy(&mut fs::File::open(file)?, &mut writer)?;
    Ok(writer.0.finalize().into())
}
