//! Keys in a SQLite file of their own.
//!
//! One thread executes all jobs. It commits the jobs that wait together, so that many new persons share one flush.
//! `secure_delete` overwrites a destroyed key, and the truncation of the write-ahead log removes its copies.

use std::{
    collections::HashMap,
    fmt, fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::key_store::{KeyRewrite, KeyStore, KeyStoreError, StoredKey};
use es_store::secret_file;

const SCHEMA: &str = "
    PRAGMA secure_delete = ON;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS identity (only INTEGER PRIMARY KEY CHECK (only = 1), id BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS persons (
        person BLOB PRIMARY KEY,
        key BLOB,
        is_finished INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS open_erasures ON persons (person) WHERE key IS NULL AND is_finished = 0;
    PRAGMA wal_checkpoint(TRUNCATE);
";

/// The most jobs of one transaction.
const MAX_BATCH: usize = 1_000;

/// Executes a statement within the transaction, unless it could not begin, and returns what has to be done once it is committed.
type Job = Box<dyn FnOnce(Result<&Connection, KeyStoreError>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), KeyStoreError>) + Send>;

/// A key store in a SQLite file.
#[doc(hidden)]
#[derive(Clone)]
pub struct SqliteKeyStore {
    file: PathBuf,
    identity: Uuid,
    jobs: mpsc::Sender<Job>,
}

impl fmt::Debug for SqliteKeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqliteKeyStore").field(&self.file).finish()
    }
}

impl From<rusqlite::Error> for KeyStoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl SqliteKeyStore {
    /// Opens the file, and creates it if it is missing.
    pub fn open(file: &Path) -> Result<Self, KeyStoreError> {
        let failed = |error: std::io::Error| KeyStoreError(format!("{}: {error}", file.display()));
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        secret_file::secure_database(file).map_err(failed)?;
        Self::from_connection(file, Connection::open(file)?)
    }

    /// Creates a key store that ends with the process, for events that do so as well.
    pub fn in_memory() -> Result<Self, KeyStoreError> {
        Self::from_connection(Path::new(":memory:"), Connection::open_in_memory()?)
    }

    fn from_connection(file: &Path, connection: Connection) -> Result<Self, KeyStoreError> {
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.execute_batch(SCHEMA)?;
        connection.execute(
            "INSERT INTO identity (only, id) VALUES (1, ?1) ON CONFLICT DO NOTHING",
            [Uuid::new_v4().into_bytes()],
        )?;
        let identity = connection.query_row("SELECT id FROM identity", [], |row| row.get(0))?;
        let (jobs, queue) = mpsc::channel();
        let opened = OpenedFile(file.to_owned(), file_number(file));
        std::thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || execute_jobs(&connection, &opened, &queue))
            .map_err(|error| KeyStoreError(error.to_string()))?;
        Ok(Self {
            file: file.to_owned(),
            identity: Uuid::from_bytes(identity),
            jobs,
        })
    }

    /// Removes what earlier states of the store left in its files.
    async fn scrub(&self) -> Result<(), KeyStoreError> {
        let file = self.file.clone();
        // A checkpoint cannot run inside the transaction of the jobs.
        let scrub = move || -> Result<(), KeyStoreError> {
            let connection = Connection::open(file)?;
            connection.busy_timeout(Duration::from_secs(5))?;
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            let busy: i64 = connection.query_row(checkpoint, [], |row| row.get(0))?;
            if busy != 0 {
                return Err(KeyStoreError(
                    "its write-ahead log is in use: repeat the command".into(),
                ));
            }
            Ok(())
        };
        let done = tokio::task::spawn_blocking(scrub).await;
        done.map_err(|error| KeyStoreError(error.to_string()))?
    }

    async fn execute<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T, KeyStoreError> + Send + 'static,
    ) -> Result<T, KeyStoreError> {
        let stopped = || KeyStoreError("its thread has ended".to_owned());
        let (sender, receiver) = oneshot::channel();
        let job = move |connection: Result<&Connection, KeyStoreError>| -> Answer {
            let result = connection.and_then(act);
            Box::new(move |committed| {
                let _ = sender.send(committed.and(result));
            })
        };
        self.jobs.send(Box::new(job)).map_err(|_| stopped())?;
        receiver.await.map_err(|_| stopped())?
    }
}

/// The file as it was when it was opened. A file in memory has no number.
struct OpenedFile(PathBuf, Option<(u64, u64)>);

impl OpenedFile {
    /// Fails if the path leads to another file by now. SQLite goes on with the removed one, whose keys end with the process.
    fn check(&self) -> Result<(), KeyStoreError> {
        let Self(path, number) = self;
        if file_number(path) == *number {
            return Ok(());
        }
        Err(KeyStoreError(format!(
            "{} was removed or replaced while the application runs: put back the newest copy of it, and start again",
            path.display()
        )))
    }
}

/// Returns the numbers by which the operating system knows a file.
fn file_number(file: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Executes jobs until the last handle is gone.
fn execute_jobs(connection: &Connection, file: &OpenedFile, queue: &mpsc::Receiver<Job>) {
    while let Ok(first) = queue.recv() {
        let jobs = std::iter::once(first)
            .chain(queue.try_iter())
            .take(MAX_BATCH);
        let begin = || Ok(connection.execute_batch("BEGIN IMMEDIATE")?);
        let begun = file.check().and_then(|()| begin());
        let answers: Vec<Answer> = jobs
            .map(|job| {
                // A full disk ends the transaction. What came after it would be committed statement by statement.
                job(match &begun {
                    Ok(()) if connection.is_autocommit() => Err(KeyStoreError(
                        "an earlier change of its batch failed".to_owned(),
                    )),
                    Ok(()) => Ok(connection),
                    Err(error) => Err(error.clone()),
                })
            })
            .collect();
        let committed = begun.and_then(|()| Ok(connection.execute_batch("COMMIT")?));
        if committed.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        for answer in answers {
            answer(committed.clone());
        }
    }
}

fn find(connection: &Connection, person: Uuid) -> Result<Option<StoredKey>, KeyStoreError> {
    let mut statement = connection.prepare_cached("SELECT key FROM persons WHERE person = ?1")?;
    let key = statement.query_row([person.into_bytes()], |row| {
        row.get::<_, Option<Vec<u8>>>(0)
    });
    Ok(key
        .optional()?
        .map(|key| key.map_or(StoredKey::Erased, StoredKey::Key)))
}

#[async_trait]
impl KeyStore for SqliteKeyStore {
    fn identity(&self) -> Uuid {
        self.identity
    }

    async fn find(&self, persons: Vec<Uuid>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
        self.execute(move |connection| {
            let mut found = HashMap::new();
            for person in persons {
                if let Some(key) = find(connection, person)? {
                    found.insert(person, key);
                }
            }
            Ok(found)
        })
        .await
    }

    async fn find_or_insert(&self, person: Uuid, key: Vec<u8>) -> Result<StoredKey, KeyStoreError> {
        self.execute(move |connection| {
            let insert = "INSERT INTO persons (person, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            let mut statement = connection.prepare_cached(insert)?;
            if statement.execute(params![person.into_bytes(), key])? == 1 {
                return Ok(StoredKey::Key(key));
            }
            let stored = find(connection, person)?;
            stored.ok_or_else(|| KeyStoreError(format!("it has lost the key of {person}")))
        })
        .await
    }

    async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        self.execute(move |connection| {
            let erase = "INSERT INTO persons (person, key) VALUES (?1, NULL) \
                 ON CONFLICT (person) DO UPDATE SET key = NULL";
            connection.execute(erase, [person.into_bytes()])?;
            Ok(())
        })
        .await?;
        self.scrub().await
    }

    async fn finish_erasure(&self, person: Uuid) -> Result<(), KeyStoreError> {
        self.execute(move |connection| {
            let finish = "UPDATE persons SET is_finished = 1 WHERE person = ?1 AND key IS NULL";
            connection.execute(finish, [person.into_bytes()])?;
            Ok(())
        })
        .await
    }

    async fn unfinished_erasures(&self) -> Result<Vec<Uuid>, KeyStoreError> {
        self.execute(|connection| {
            let select = "SELECT person FROM persons WHERE key IS NULL AND is_finished = 0";
            let mut statement = connection.prepare(select)?;
            let persons = statement.query_map([], |row| row.get(0).map(Uuid::from_bytes))?;
            Ok(persons.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn check(&self) -> Result<(), KeyStoreError> {
        self.execute(|connection| {
            connection.execute("UPDATE identity SET id = id", [])?;
            Ok(())
        })
        .await
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.file)
            .filter(|file| file.exists())
            .map(PathBuf::as_path)
    }

    async fn has_longer_key(&self, length: usize) -> Result<bool, KeyStoreError> {
        self.execute(move |connection| {
            let select = "SELECT EXISTS (SELECT 1 FROM persons WHERE length(key) > ?1)";
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            Ok(connection.query_row(select, [length], |row| row.get(0))?)
        })
        .await
    }

    async fn rewrite_keys(&self, rewrite: KeyRewrite) -> Result<usize, KeyStoreError> {
        let count = self
            .execute(move |connection| {
                let select = "SELECT person, key FROM persons WHERE key IS NOT NULL";
                let mut statement = connection.prepare(select)?;
                let mut rows = statement.query([])?;
                let mut changed = Vec::new();
                while let Some(row) = rows.next()? {
                    let (person, key) = (Uuid::from_bytes(row.get(0)?), row.get::<_, Vec<u8>>(1)?);
                    changed.extend(rewrite(person, &key)?.map(|key| (person, key)));
                }
                for (person, key) in &changed {
                    let update =
                        "UPDATE persons SET key = ?2 WHERE person = ?1 AND key IS NOT NULL";
                    connection.execute(update, params![person.into_bytes(), key])?;
                }
                Ok(changed.len())
            })
            .await?;
        if count > 0 {
            self.scrub().await?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: Uuid = Uuid::from_u128(1);

    fn bytes_of(folder: &Path) -> Vec<u8> {
        let files = fs::read_dir(folder).unwrap();
        files
            .flat_map(|file| fs::read(file.unwrap().path()).unwrap())
            .collect()
    }

    fn contains(bytes: &[u8], part: &[u8]) -> bool {
        bytes.windows(part.len()).any(|window| window == part)
    }

    #[tokio::test]
    async fn the_first_key_of_a_person_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteKeyStore::open(&folder.path().join("keys.sqlite")).unwrap();
        for key in [vec![1; 32], vec![2; 32]] {
            let stored = store.find_or_insert(ADA, key).await.unwrap();
            assert_eq!(stored, StoredKey::Key(vec![1; 32]));
        }
        let again = SqliteKeyStore::open(&folder.path().join("keys.sqlite")).unwrap();
        assert_eq!(again.identity(), store.identity());
        assert_eq!(again.find(vec![ADA, Uuid::nil()]).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_destroyed_key_is_in_no_file_and_never_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteKeyStore::open(&folder.path().join("keys.sqlite")).unwrap();
        let key: Vec<u8> = (100..132).collect();
        store.find_or_insert(ADA, key.clone()).await.unwrap();
        assert!(contains(&bytes_of(folder.path()), &key));
        store.erase(ADA).await.unwrap();
        assert!(!contains(&bytes_of(folder.path()), &key));
        assert_eq!(
            store.find_or_insert(ADA, key).await.unwrap(),
            StoredKey::Erased
        );
        assert_eq!(store.unfinished_erasures().await.unwrap(), [ADA]);
        store.finish_erasure(ADA).await.unwrap();
        assert!(store.unfinished_erasures().await.unwrap().is_empty());
        // A person without a key is erased as well.
        store.erase(Uuid::nil()).await.unwrap();
        let stored = store.find_or_insert(Uuid::nil(), vec![1; 32]).await;
        assert_eq!(stored.unwrap(), StoredKey::Erased);
    }

    #[tokio::test]
    async fn a_transaction_that_cannot_begin_executes_no_job() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.sqlite");
        let store = SqliteKeyStore::open(&file).unwrap();
        let other = Connection::open(&file).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let refused = store.find_or_insert(ADA, vec![1; 32]).await.unwrap_err();
        assert!(refused.to_string().contains("locked"), "{refused}");
        assert!(store.check().await.is_err());
        other.execute_batch("ROLLBACK").unwrap();
        assert!(store.find(vec![ADA]).await.unwrap().is_empty());
        store.check().await.unwrap();
    }

    #[tokio::test]
    async fn a_file_that_is_removed_or_replaced_under_the_store_takes_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.sqlite");
        let store = SqliteKeyStore::open(&file).unwrap();
        store.check().await.unwrap();
        fs::remove_file(&file).unwrap();
        for _ in 0..2 {
            let refused = store.find_or_insert(ADA, vec![1; 32]).await.unwrap_err();
            assert!(
                refused.to_string().contains("was removed or replaced"),
                "{refused}"
            );
            assert!(store.check().await.is_err());
            fs::write(&file, "").unwrap();
        }
    }
}
