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
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use es_sql::{Cell, DatabaseError, DatabaseUrl, DatabaseUse, SqlDatabase, Statement};
use sha2::{Digest as _, Sha256};
use tokio::{sync::OnceCell, task::spawn_blocking};

use super::{Evolve, LastEvent};
use es_event::{EventId, Subject, UnreadableValue};

/// The highest number of snapshots. Beyond it, the oldest ones are deleted.
const MAX_SNAPSHOTS: usize = 10_000;
/// The longest state that is stored, in bytes of JSON.
const MAX_LENGTH: usize = 1024 * 1024;
/// The time after which a search for texts is ended.
const QUERY_TIME: Duration = Duration::from_secs(60);

const SCHEMA: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS snapshots (
        number INTEGER PRIMARY KEY,
        program BLOB NOT NULL,
        name TEXT NOT NULL,
        event_id INTEGER NOT NULL,
        event_hash TEXT NOT NULL,
        state TEXT NOT NULL
    ) STRICT",
    "CREATE UNIQUE INDEX IF NOT EXISTS snapshots_name ON snapshots (name)",
    "DROP TABLE IF EXISTS erasure",
    "CREATE TABLE IF NOT EXISTS last_erasure (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), hash TEXT NOT NULL) STRICT",
];

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
    /// The open file. It is opened when the first state is read or saved.
    database: Arc<OnceCell<SnapshotDatabase>>,
    /// True if the file could not be opened. No state is read from it then.
    is_broken: Arc<AtomicBool>,
}

/// The open file with snapshots.
struct SnapshotDatabase {
    database: SqlDatabase,
    /// The build of this program, which wrote the snapshots that it may read.
    program: Cell,
    /// The names of the stored snapshots. Most subjects have none, and this set answers that without waiting for the disk.
    names: Mutex<HashSet<String>>,
    /// A state is saved before all snapshots are deleted, or after its age was compared with that.
    writing: tokio::sync::Mutex<()>,
}

/// The reason why a snapshot cannot be read or written.
#[derive(Debug, thiserror::Error)]
enum SnapshotError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("the state is not read back as it is written: {0}")]
    Unreadable(#[from] UnreadableValue),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("its row is damaged")]
    Damaged,
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
        Self {
            file: file.into(),
            database: Arc::default(),
            is_broken: Arc::default(),
        }
    }

    /// Returns the stored state of a subject and its last event. Returns `None` if there is no
    /// snapshot or it cannot be read.
    pub(super) async fn load_snapshot<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Option<(S, LastEvent)> {
        let name = name(S::DECLARATION.module, S::NAME, subject, recursive);
        let (json, latest) = self.load(name).await?;
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
        let loaded = self.load(name(module, state, subject, recursive)).await;
        loaded.map(|(_, latest)| latest.id)
    }

    /// Returns the state with this name as JSON. Returns `None` if there is none or it cannot be read.
    async fn load(&self, name: String) -> Option<(String, LastEvent)> {
        if self.database.get().is_none()
            && (self.is_broken.load(Ordering::Relaxed) || self.is_empty())
        {
            return None;
        }
        let loaded = async { self.database().await?.load(name).await };
        self.log_error("read", loaded.await).flatten()
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
        let Some(encoded) = self.log_error("written", json) else {
            return;
        };
        let json = String::from(Box::<str>::from(encoded));
        if json.len() > MAX_LENGTH {
            tracing::debug!(%subject, bytes = json.len(), "a state is too long for a snapshot");
            return;
        }
        let name = name(S::DECLARATION.module, S::NAME, subject, recursive);
        let snapshots = self.clone();
        tokio::spawn(async move {
            let saved = async {
                let database = snapshots.database().await?;
                database.save(name, json, latest, is_current).await
            };
            snapshots.log_error("written", saved.await)
        });
    }

    /// Returns the database, which is opened for the first action.
    async fn database(&self) -> Result<&SnapshotDatabase, SnapshotError> {
        let opening = self
            .database
            .get_or_try_init(|| SnapshotDatabase::open(&self.file));
        let opened = opening.await;
        self.is_broken.store(opened.is_err(), Ordering::Relaxed);
        opened
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
    async fn open(file: &Path) -> Result<Self, SnapshotError> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        let url = DatabaseUrl::File(file.to_owned());
        let database = SqlDatabase::open(&url, QUERY_TIME, DatabaseUse::Derived).await?;
        let program = spawn_blocking(hash_running_program).await;
        let program = Cell::Bytes(program.map_err(io::Error::other)??);
        let mut statements: Vec<_> = SCHEMA.map(Statement::plain).into();
        let delete = "DELETE FROM snapshots WHERE program <> $1";
        statements.push(Statement::new(delete, [program.clone()]));
        database.write(statements).await?;
        let select = Statement::plain("SELECT name FROM snapshots");
        let names = texts(database.read(select).await?);
        Ok(Self {
            database,
            program,
            names: Mutex::new(names.collect()),
            writing: tokio::sync::Mutex::default(),
        })
    }

    async fn load(&self, name: String) -> Result<Option<(String, LastEvent)>, SnapshotError> {
        if !lock(&self.names).contains(&name) {
            return Ok(None);
        }
        let select = Statement::new(
            "SELECT state, event_id, event_hash FROM snapshots WHERE name = $1 AND program = $2",
            [name.into(), self.program.clone()],
        );
        let Some(row) = self.database.read(select).await?.pop() else {
            return Ok(None);
        };
        let Ok([Cell::Text(json), Cell::Integer(id), Cell::Text(hash)]) = <[_; 3]>::try_from(row)
        else {
            return Err(SnapshotError::Damaged);
        };
        let id = u64::try_from(id).ok().and_then(EventId::new);
        let latest = id
            .zip(hash.parse().ok())
            .map(|(id, hash)| LastEvent { id, hash });
        Ok(Some((json, latest.ok_or(SnapshotError::Damaged)?)))
    }

    /// Saves a state unless it is from before an erasure.
    async fn save(
        &self,
        name: String,
        json: String,
        latest: LastEvent,
        is_current: impl FnOnce() -> bool + Send,
    ) -> Result<(), SnapshotError> {
        let _writing = self.writing.lock().await;
        // An erasure of personal data may have deleted all snapshots meanwhile.
        if !is_current() {
            return Ok(());
        }
        let is_full = {
            let names = lock(&self.names);
            names.len() >= MAX_SNAPSHOTS && !names.contains(&name)
        };
        let oldest = if is_full {
            self.load_oldest().await?
        } else {
            Vec::new()
        };
        let id = i64::try_from(latest.id.get()).unwrap_or(i64::MAX);
        let hash = latest.hash.to_string();
        let delete = oldest.iter().map(|name| vec![name.as_str().into()]);
        let insert = "INSERT OR REPLACE INTO snapshots (program, name, event_id, event_hash, state) \
             VALUES ($1, $2, $3, $4, $5)";
        let row = [
            self.program.clone(),
            name.as_str().into(),
            id.into(),
            hash.into(),
            json.into(),
        ];
        let written = self.database.write(vec![
            Statement::for_rows("DELETE FROM snapshots WHERE name = $1", delete.collect()),
            Statement::new(insert, row),
        ]);
        written.await?;
        let mut names = lock(&self.names);
        for deleted in &oldest {
            names.remove(deleted);
        }
        names.insert(name);
        Ok(())
    }

    /// Returns the names of the oldest tenth.
    async fn load_oldest(&self) -> Result<Vec<String>, SnapshotError> {
        let count = i64::try_from(MAX_SNAPSHOTS / 10).unwrap_or(i64::MAX);
        let select = "SELECT name FROM snapshots ORDER BY number LIMIT $1";
        let select = Statement::new(select, [count.into()]);
        Ok(texts(self.database.read(select).await?).collect())
    }
}

/// Returns the texts in rows with one column.
fn texts(rows: Vec<Vec<Cell>>) -> impl Iterator<Item = String> {
    let cells = rows.into_iter().flatten();
    cells.filter_map(Cell::into_text)
}

/// Returns the hash of the running program's file, which identifies the build. `/proc/self/exe`
/// refers to the started file even after a newer one replaced it.
fn hash_running_program() -> io::Result<Vec<u8>> {
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
    Ok(writer.0.finalize().to_vec())
}
