//! Keys in a database of their own: a SQLite file, or PostgreSQL for several instances.
//!
//! A destroyed key must not stay in a file. SQLite overwrites it (`secure_delete`), and the truncation of the write-ahead
//! log removes its copies. In PostgreSQL, an update leaves the old version of its row in the table, and `VACUUM` alone
//! makes its space reusable without overwriting it. Only `VACUUM FULL` writes a table anew, while nobody can use it.
//! Therefore persons are spread over many small partitions there, and an erasure rewrites one of them.

mod dialect;

use std::{
    collections::{BTreeMap, HashMap},
    fmt, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use es_sql::{Cell, CellType, DatabaseError, DatabaseUrl, Engine, SharedDatabase, Statement};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use self::dialect::KeyDialect;
use crate::key_store::{KeyRewrite, KeyStore, KeyStoreError, StoredKey};

/// The most persons of one statement.
const MAX_BATCH: usize = 1_000;

/// The most persons of one read of a rotation.
const PAGE: i64 = 1_000;

/// The number of partitions of the table of persons in PostgreSQL.
const PARTITIONS: u32 = 64;

/// The statement that limits how long the rewrite of a partition waits for its lock, because all who use the partition
/// wait behind it.
const REWRITE_LOCK_TIMEOUT: &str = "SET lock_timeout = '1s'";

/// The longest time of a statement that reads or writes many rows. It is tried once.
const LONG_TIME: Duration = Duration::from_secs(60);

/// The longest time in which the tables of an earlier release are brought to the current form.
const UPGRADE_TIME: Duration = Duration::from_secs(600);

/// The key of a person who may be new.
struct NewKey {
    person: Uuid,
    key: Vec<u8>,
    answer: oneshot::Sender<Result<StoredKey, KeyStoreError>>,
}

/// A key store in a SQLite file or a PostgreSQL database. Clones share the connections.
#[doc(hidden)]
#[derive(Clone)]
pub struct SqlKeyStore {
    tables: KeyTables,
    identity: Uuid,
    file: Option<PathBuf>,
    new_keys: mpsc::Sender<NewKey>,
}

/// The tables of a key store.
#[derive(Clone)]
struct KeyTables {
    database: SharedDatabase,
    dialect: &'static KeyDialect,
}

impl fmt::Debug for SqlKeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SqlKeyStore").field(&self.identity).finish()
    }
}

impl From<DatabaseError> for KeyStoreError {
    fn from(error: DatabaseError) -> Self {
        Self(error.to_string())
    }
}

impl SqlKeyStore {
    /// Opens the database, and creates the file and the tables if they are missing. A database in memory is for events that
    /// end with the process as well.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, KeyStoreError> {
        let file = match url {
            DatabaseUrl::File(file) => Some(file.clone()),
            DatabaseUrl::Memory | DatabaseUrl::Postgres(_) => None,
        };
        if let Some(folder) = file.as_deref().and_then(Path::parent) {
            let created = fs::create_dir_all(folder);
            created.map_err(|error| KeyStoreError(format!("{}: {error}", folder.display())))?;
        }
        let database = SharedDatabase::open(url).await?;
        let dialect = KeyDialect::of_engine(database.engine());
        let tables = KeyTables { database, dialect };
        let identity = tables.create().await?;
        let (new_keys, queue) = mpsc::channel(MAX_BATCH);
        tokio::spawn(insert_new_keys(tables.clone(), queue));
        Ok(Self {
            tables,
            identity,
            file,
            new_keys,
        })
    }
}

impl KeyTables {
    /// Creates the tables that are missing, and returns the identity of the store.
    async fn create(&self) -> Result<Uuid, KeyStoreError> {
        let create = self.dialect.create.iter().copied();
        let statements = create.map(Statement::plain).collect();
        self.database.run_once(UPGRADE_TIME, statements).await?;
        if let Err(error) = self.database.truncate_log().await {
            tracing::warn!(%error, "the write-ahead log of the key store is not truncated");
        }
        let KeyDialect {
            identity, only_row, ..
        } = self.dialect;
        let insert = format!(
            "INSERT INTO {identity} ({only_row}, id) VALUES (1, $1) ON CONFLICT DO NOTHING"
        );
        self.transact(insert, [self.id_cell(Uuid::new_v4())])
            .await?;
        let rows = self
            .transact(format!("SELECT id FROM {identity}"), [])
            .await?;
        let [id] = read_columns(rows.into_iter().next().unwrap_or_default())?;
        read_id(&id)
    }

    async fn transact(
        &self,
        sql: impl Into<String>,
        cells: impl Into<Vec<Cell>>,
    ) -> Result<Vec<Vec<Cell>>, KeyStoreError> {
        let transacted = self.database.transact(Statement::new(sql, cells));
        Ok(transacted.await?)
    }

    /// Runs a statement once for each row in SQLite, and once for all rows in PostgreSQL, with an array for each column. The
    /// first column has persons, and the others have keys.
    async fn transact_rows<const COLUMNS: usize>(
        &self,
        sql: impl Into<String>,
        rows: Vec<[Cell; COLUMNS]>,
    ) -> Result<Vec<Vec<Cell>>, KeyStoreError> {
        let statement = match self.database.engine() {
            Engine::Sqlite => {
                let rows = rows.into_iter().map(Vec::from);
                Statement::for_rows(sql, rows.collect())
            }
            Engine::Postgres => {
                let types =
                    std::iter::once(CellType::Text).chain(std::iter::repeat(CellType::Bytes));
                let empty = types.take(COLUMNS).map(|cell_type| (cell_type, Vec::new()));
                let mut arrays: Vec<(CellType, Vec<Cell>)> = empty.collect();
                for row in rows {
                    for ((_, array), cell) in arrays.iter_mut().zip(row) {
                        array.push(cell);
                    }
                }
                Statement::for_arrays(sql, arrays)
            }
        };
        Ok(self.database.transact(statement).await?)
    }

    /// Returns the cell of the id of a person or of the store.
    fn id_cell(&self, id: Uuid) -> Cell {
        match self.database.engine() {
            Engine::Sqlite => Cell::Bytes(id.into_bytes().to_vec()),
            Engine::Postgres => Cell::Text(id.to_string()),
        }
    }

    /// Writes a partition anew. It fails if others use the partition for longer than [`REWRITE_LOCK_TIMEOUT`].
    async fn rewrite_partition(&self, partition: &str) -> Result<(), KeyStoreError> {
        let vacuum = format!("VACUUM FULL {partition}");
        let statements = [REWRITE_LOCK_TIMEOUT, &vacuum].map(Statement::plain);
        let vacuumed = self.database.run_once(LONG_TIME, statements.into());
        vacuumed.await.map(drop).map_err(|reason| {
            KeyStoreError(format!(
                "{partition} cannot be written anew, which removes the copies of its earlier keys: {reason}; a backup of the key store may be running, so repeat this after it"
            ))
        })
    }

    /// Removes what earlier states of one row left in the files.
    async fn scrub_row(&self, place: Cell) -> Result<(), KeyStoreError> {
        match (self.database.engine(), place) {
            (Engine::Postgres, Cell::Text(partition)) => self.rewrite_partition(&partition).await,
            _ => Ok(self.database.truncate_log().await?),
        }
    }

    /// Removes what a rewrite of all keys left in the files, unless no rewrite has begun.
    async fn scrub(&self, has_rewritten: bool) -> Result<(), KeyStoreError> {
        match self.database.engine() {
            Engine::Sqlite if has_rewritten => Ok(self.database.truncate_log().await?),
            Engine::Sqlite => Ok(()),
            Engine::Postgres => {
                let open = "SELECT only_row FROM es_unscrubbed_rewrite";
                if self.transact(open, []).await?.is_empty() {
                    return Ok(());
                }
                for partition in 0..PARTITIONS {
                    let partition = format!("es_persons_{partition}");
                    self.rewrite_partition(&partition).await?;
                }
                let finish = "DELETE FROM es_unscrubbed_rewrite";
                self.transact(finish, []).await.map(drop)
            }
        }
    }
}

/// Inserts the keys of new persons. Those who come while a transaction runs share the next one, and its flush.
async fn insert_new_keys(tables: KeyTables, mut queue: mpsc::Receiver<NewKey>) {
    let KeyDialect {
        persons, new_rows, ..
    } = tables.dialect;
    // The update changes nothing, and returns the row of a person who is known.
    let insert = format!(
        "INSERT INTO {persons} (person, key) {new_rows} \
         ON CONFLICT (person) DO UPDATE SET is_finished = {persons}.is_finished RETURNING person, key"
    );
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, MAX_BATCH).await > 0 {
        // Two instances lock the persons in one order. A person is at most once in a statement.
        let new = waiting.iter().map(|new| (new.person, &new.key));
        let rows = BTreeMap::from_iter(new)
            .into_iter()
            .map(|(person, key)| [tables.id_cell(person), Cell::Bytes(key.clone())]);
        let inserted = tables.transact_rows(insert.as_str(), rows.collect()).await;
        let found = inserted.and_then(read_keys);
        for NewKey { person, answer, .. } in waiting.drain(..) {
            let keys = found.as_ref().map_err(KeyStoreError::clone);
            let stored = keys.and_then(|keys| {
                let stored = keys.get(&person).cloned();
                stored.ok_or_else(|| KeyStoreError(format!("it has lost the key of {person}")))
            });
            // Whoever asked may be gone.
            let _ = answer.send(stored);
        }
    }
}

/// Reads rows of persons with their keys.
fn read_keys(rows: Vec<Vec<Cell>>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
    let rows = rows.into_iter().map(|row| {
        let [person, key] = read_columns(row)?;
        let stored = match key {
            Cell::Bytes(key) => StoredKey::Key(key),
            Cell::Null => StoredKey::Erased,
            _ => return Err(unreadable()),
        };
        Ok((read_id(&person)?, stored))
    });
    rows.collect()
}

fn read_columns<const COLUMNS: usize>(row: Vec<Cell>) -> Result<[Cell; COLUMNS], KeyStoreError> {
    row.try_into().map_err(|_| unreadable())
}

fn read_id(cell: &Cell) -> Result<Uuid, KeyStoreError> {
    let id = match cell {
        Cell::Bytes(bytes) => Uuid::from_slice(bytes).ok(),
        Cell::Text(text) => text.parse().ok(),
        _ => None,
    };
    id.ok_or_else(unreadable)
}

fn unreadable() -> KeyStoreError {
    KeyStoreError("a row of it is damaged: restore it from a backup".to_owned())
}

#[async_trait]
impl KeyStore for SqlKeyStore {
    fn identity(&self) -> Uuid {
        self.identity
    }

    async fn find(&self, persons: Vec<Uuid>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
        let tables = &self.tables;
        let rows = persons.into_iter().map(|person| [tables.id_cell(person)]);
        let found = tables.transact_rows(tables.dialect.find, rows.collect());
        read_keys(found.await?)
    }

    async fn find_or_insert(&self, person: Uuid, key: Vec<u8>) -> Result<StoredKey, KeyStoreError> {
        let stopped = || KeyStoreError("its task has ended".to_owned());
        let (answer, stored) = oneshot::channel();
        let new = NewKey {
            person,
            key,
            answer,
        };
        let sent = self.new_keys.send(new).await;
        sent.map_err(|_| stopped())?;
        stored.await.map_err(|_| stopped())?
    }

    async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let KeyDialect { persons, place, .. } = self.tables.dialect;
        let erase = format!(
            "INSERT INTO {persons} (person, key) VALUES ($1, NULL) \
             ON CONFLICT (person) DO UPDATE SET key = NULL RETURNING {place}"
        );
        let erased = self.tables.transact(erase, [self.tables.id_cell(person)]);
        let [place] = read_columns(erased.await?.into_iter().next().unwrap_or_default())?;
        let scrubbed = self.tables.scrub_row(place).await;
        scrubbed.map_err(|KeyStoreError(reason)| {
            KeyStoreError(format!("the key is destroyed, but {reason}"))
        })
    }

    async fn finish_erasure(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let persons = self.tables.dialect.persons;
        let finish =
            format!("UPDATE {persons} SET is_finished = true WHERE person = $1 AND key IS NULL");
        let finished = self.tables.transact(finish, [self.tables.id_cell(person)]);
        finished.await.map(drop)
    }

    async fn unfinished_erasures(&self) -> Result<Vec<Uuid>, KeyStoreError> {
        let KeyDialect {
            persons, is_open, ..
        } = self.tables.dialect;
        let select = format!("SELECT person FROM {persons} WHERE key IS NULL AND {is_open}");
        let statements = vec![Statement::new(select, [])];
        let rows = self.tables.database.run_once(LONG_TIME, statements).await?;
        let ids = rows.into_iter().map(|row| {
            let [person] = read_columns(row)?;
            read_id(&person)
        });
        ids.collect()
    }

    async fn check(&self) -> Result<(), KeyStoreError> {
        let check = Statement::plain(self.tables.dialect.check);
        Ok(self.tables.database.transact(check).await.map(drop)?)
    }

    fn file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| file.exists())
    }

    async fn has_longer_key(&self, length: usize) -> Result<bool, KeyStoreError> {
        let persons = self.tables.dialect.persons;
        let select = format!("SELECT person FROM {persons} WHERE octet_length(key) > $1 LIMIT 1");
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let statements = vec![Statement::new(select, [length.into()])];
        let found = self.tables.database.run_once(LONG_TIME, statements).await?;
        Ok(!found.is_empty())
    }

    async fn rewrite_keys(&self, rewrite: KeyRewrite) -> Result<usize, KeyStoreError> {
        let tables = &self.tables;
        let persons = tables.dialect.persons;
        let page = format!(
            "SELECT person, key FROM {persons} WHERE person > $1 AND key IS NOT NULL ORDER BY person LIMIT $2"
        );
        let mut count: usize = 0;
        // An empty text comes before all ids, also before those that are bytes.
        let mut last = Cell::from("");
        loop {
            let rows = tables.transact(page.as_str(), [last, PAGE.into()]).await?;
            let Some(row) = rows.last() else { break };
            last = row.first().cloned().unwrap_or(Cell::Null);
            let mut changed = Vec::new();
            for row in rows {
                let [person, old] = read_columns(row)?;
                let Cell::Bytes(old) = old else {
                    return Err(unreadable());
                };
                if let Some(new) = rewrite(read_id(&person)?, &old)? {
                    changed.push([person, new.into(), old.into()]);
                }
            }
            if !changed.is_empty() {
                count = count.saturating_add(changed.len());
                tables
                    .transact_rows(tables.dialect.rewrite, changed)
                    .await?;
            }
        }
        tables.scrub(count > 0).await?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
