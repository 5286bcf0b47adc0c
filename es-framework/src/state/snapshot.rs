//! Snapshots: states of long subjects, kept in a file across restarts.
//!
//! A snapshot is a shortcut and never the truth. It counts only for the very program that wrote it
//! (another build may fold events differently), and only while the event that it ends with is still
//! in the store. Whatever goes wrong with the file is logged, and the events are read instead.

use std::{
    collections::HashSet,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::{Evolve, LastEvent};
use crate::event::{EventId, Subject};

/// How many snapshots are kept; beyond, those that were written first go.
const MAX_SNAPSHOTS: usize = 10_000;
/// The longest state that is kept, in bytes of JSON.
const MAX_LENGTH: usize = 1024 * 1024;
/// How long to wait for another process that uses the file.
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
";

/// A file with snapshots. Made when the first one is written. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{command::CommandBus, state::Snapshots, store::memory::MemoryStore};
///
/// let snapshots = Snapshots::in_file("data/snapshots.sqlite".into());
/// let bus = CommandBus::new(Arc::new(MemoryStore::new()), "library-service").with_snapshots(snapshots);
/// ```
#[derive(Clone)]
pub struct Snapshots {
    file: Arc<Path>,
    open: Arc<Mutex<Option<Open>>>,
    names: Names,
}

/// What there are snapshots of. Most subjects have none and need no look at the file; it is a lock
/// of its own, since nobody may wait for the disk to learn that.
type Names = Arc<Mutex<HashSet<String>>>;

struct Open {
    connection: Connection,
    program: [u8; 32],
    names: Names,
}

#[derive(Debug, thiserror::Error)]
enum SnapshotError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
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
    /// Snapshots in this file, which need not be there yet.
    #[must_use]
    pub fn in_file(file: PathBuf) -> Self {
        let snapshots = Self {
            file: file.into(),
            open: Arc::default(),
            names: Arc::default(),
        };
        if snapshots.file.exists() {
            snapshots.attempt("opened", |_| Ok(()));
        }
        snapshots
    }

    pub(super) async fn load<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Option<(S, LastEvent)> {
        let name = name::<S>(subject, recursive);
        if !lock(&self.names).contains(&name) {
            return None;
        }
        let snapshots = self.clone();
        let load = move || snapshots.attempt("read", |open| open.load(&name)).flatten();
        let (json, latest) = tokio::task::spawn_blocking(load).await.ok().flatten()?;
        let state = serde_json::from_str(&json).map_err(SnapshotError::from);
        self.reported("read", state).map(|state| (state, latest))
    }

    pub(super) fn save<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        state: &S,
        latest: LastEvent,
    ) {
        let json = serde_json::to_string(state).map_err(SnapshotError::from);
        let Some(json) = self.reported("written", json) else {
            return;
        };
        if json.len() > MAX_LENGTH {
            tracing::debug!(%subject, bytes = json.len(), "a state is too long for a snapshot");
            return;
        }
        let (snapshots, name) = (self.clone(), name::<S>(subject, recursive));
        tokio::task::spawn_blocking(move || {
            snapshots.attempt("written", |open| open.save(name, &json, latest))
        });
    }

    /// Does something with the file, which is opened if it is not yet.
    fn attempt<T>(
        &self,
        what: &str,
        act: impl FnOnce(&Open) -> Result<T, SnapshotError>,
    ) -> Option<T> {
        let mut guard = lock(&self.open);
        let done = match &mut *guard {
            Some(open) => act(open),
            none => {
                let names = Arc::clone(&self.names);
                Open::at(&self.file, names).and_then(|open| act(none.insert(open)))
            }
        };
        self.reported(what, done)
    }

    fn reported<T>(&self, what: &str, done: Result<T, SnapshotError>) -> Option<T> {
        let file = self.file.display();
        done.inspect_err(|error| tracing::warn!(%file, %error, "a snapshot cannot be {what}"))
            .ok()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a snapshot is of.
fn name<S: Evolve>(subject: &Subject, recursive: bool) -> String {
    let below = if recursive { "/**" } else { "" };
    let module = S::DECLARATION.module;
    format!("{module}::{} {subject}{below}", S::NAME)
}

impl Open {
    fn at(file: &Path, names: Names) -> Result<Self, SnapshotError> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let connection = Connection::open(file)?;
        connection.busy_timeout(LOCK_WAIT)?;
        // A snapshot that a crash takes is a snapshot less.
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")?;
        connection.execute_batch(SCHEMA)?;
        let program = running_program()?;
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
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, String>(2)?,
            ))
        };
        let found = statement
            .query_row(params![name, self.program], row)
            .optional()?;
        let Some((json, id, hash)) = found else {
            return Ok(None);
        };
        let id = u64::try_from(id).ok().and_then(EventId::new);
        let latest = id
            .zip(hash.parse().ok())
            .map(|(id, hash)| LastEvent { id, hash });
        let latest = latest.ok_or(SnapshotError::Invalid("it does not say what it ends with"))?;
        Ok(Some((json, latest)))
    }

    fn save(&self, name: String, json: &str, latest: LastEvent) -> Result<(), SnapshotError> {
        let is_full = {
            let names = lock(&self.names);
            names.len() >= MAX_SNAPSHOTS && !names.contains(&name)
        };
        if is_full {
            self.make_room()?;
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

    /// Drops the tenth that was written first.
    fn make_room(&self) -> Result<(), SnapshotError> {
        let mut statement = self.connection.prepare_cached(
            "DELETE FROM snapshots WHERE number IN \
             (SELECT number FROM snapshots ORDER BY number LIMIT ?1) RETURNING name",
        )?;
        let oldest = i64::try_from(MAX_SNAPSHOTS / 10).unwrap_or(i64::MAX);
        let gone = statement.query_map([oldest], |row| row.get::<_, String>(0))?;
        for name in gone {
            lock(&self.names).remove(&name?);
        }
        Ok(())
    }
}

/// What tells one build of a program from another: the hash of its file, which is read as it was
/// started even when a newer one has been put in its place.
fn running_program() -> Result<[u8; 32], SnapshotError> {
    struct Hashing(Sha256);

    impl io::Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let own = Path::new("/proc/self/exe");
    let file = match own.exists() {
        true => own.to_owned(),
        false => std::env::current_exe()?,
    };
    let mut hashing = Hashing(Sha256::new());
    io::copy(&mut fs::File::open(file)?, &mut hashing)?;
    Ok(hashing.0.finalize().into())
}
