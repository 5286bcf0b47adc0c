//! Keys in PostgreSQL, for several instances.
//!
//! An update leaves the old version of its row in the table, and `VACUUM` alone makes its space reusable without
//! overwriting it. Only `VACUUM FULL` writes a table anew, while nobody can use it. Therefore persons are spread over many
//! small partitions, and an erasure rewrites one of them.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use sqlx::{AssertSqlSafe, Row as _, postgres::PgRow};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use crate::{
    key_connections::{KeyConnections, LOCK_TIMEOUT},
    key_store::{KeyRewrite, KeyStore, KeyStoreError, StoredKey},
};

/// `ANALYZE` would copy keys into the statistics of a column. Two instances that start at once create the tables one after the other. Earlier releases had one table for all persons.
const SCHEMA: &str = "
    SET lock_timeout = '1min';
    SELECT pg_advisory_xact_lock(4150171429);
    CREATE TABLE IF NOT EXISTS es_key_store (only_row integer PRIMARY KEY CHECK (only_row = 1), id text NOT NULL);
    CREATE TABLE IF NOT EXISTS es_unscrubbed_rewrite (only_row integer PRIMARY KEY CHECK (only_row = 1));
    DO $$ BEGIN
        IF EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('es_persons') AND relkind = 'r') THEN
            ALTER TABLE es_persons RENAME TO es_persons_of_one_table;
            ALTER INDEX es_persons_pkey RENAME TO es_persons_of_one_table_pkey;
        END IF;
        CREATE TABLE IF NOT EXISTS es_persons (
            person text PRIMARY KEY,
            key bytea,
            is_finished boolean NOT NULL DEFAULT false
        ) PARTITION BY HASH (person);
        FOR part IN 0..63 LOOP
            EXECUTE format('CREATE TABLE IF NOT EXISTS es_persons_%s PARTITION OF es_persons FOR VALUES WITH (MODULUS 64, REMAINDER %s)', part, part);
        END LOOP;
        ALTER TABLE es_persons ALTER COLUMN key SET STATISTICS 0;
        CREATE INDEX IF NOT EXISTS es_open_erasures ON es_persons (person) WHERE key IS NULL AND NOT is_finished;
        IF to_regclass('es_persons_of_one_table') IS NOT NULL THEN
            INSERT INTO es_persons SELECT person, key, is_finished FROM es_persons_of_one_table;
            DROP TABLE es_persons_of_one_table;
        END IF;
    END $$;
";

/// The most persons of one statement.
const MAX_BATCH: usize = 1_000;

/// The most persons of one read of a rotation.
const PAGE: i64 = 1_000;

/// The number of partitions of the table of persons.
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

/// A key store in a PostgreSQL database. Its connections go to the server that accepts writes.
#[doc(hidden)]
pub struct PostgresKeyStore {
    connections: Arc<KeyConnections>,
    identity: Uuid,
    new_keys: mpsc::Sender<NewKey>,
}

impl fmt::Debug for PostgresKeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresKeyStore")
            .field(&self.identity)
            .finish()
    }
}

impl PostgresKeyStore {
    /// Connects to the database, and creates the tables if they are missing.
    pub async fn open(url: &str) -> Result<Self, KeyStoreError> {
        let connections = KeyConnections::open(url).await?;
        let identity = connections.execute_once(UPGRADE_TIME, |connection| {
            Box::pin(async move {
                for statements in [SCHEMA, LOCK_TIMEOUT] {
                    sqlx::raw_sql(statements).execute(&mut *connection).await?;
                }
                let insert =
                    "INSERT INTO es_key_store (only_row, id) VALUES (1, $1) ON CONFLICT DO NOTHING";
                let insert = sqlx::query(insert).bind(Uuid::new_v4().to_string());
                insert.execute(&mut *connection).await?;
                let select = sqlx::query("SELECT id FROM es_key_store");
                select.fetch_one(connection).await?.try_get::<String, _>(0)
            })
        });
        let identity = identity.await?.parse().map_err(|error| failed(&error))?;
        let connections = Arc::new(connections);
        let (new_keys, queue) = mpsc::channel(MAX_BATCH);
        tokio::spawn(insert_new_keys(Arc::clone(&connections), queue));
        Ok(Self {
            connections,
            identity,
            new_keys,
        })
    }

    /// Writes a partition anew. It fails if others use the partition for longer than [`REWRITE_LOCK_TIMEOUT`].
    async fn rewrite_partition(&self, partition: &str) -> Result<(), KeyStoreError> {
        let vacuum = format!("VACUUM FULL {partition}");
        let vacuumed = self.connections.execute_once(LONG_TIME, |connection| {
            Box::pin(async move {
                // `VACUUM` does not run in the transaction of several statements.
                for statement in [REWRITE_LOCK_TIMEOUT, &vacuum, LOCK_TIMEOUT] {
                    let statement = AssertSqlSafe(statement.to_owned());
                    sqlx::raw_sql(statement).execute(&mut *connection).await?;
                }
                Ok(())
            })
        });
        vacuumed.await.map_err(|reason| {
            KeyStoreError(format!(
                "{partition} cannot be written anew, which removes the copies of its earlier keys: {reason}; a backup of the key store may be running, so repeat this after it"
            ))
        })
    }

    /// Removes what earlier states of the store left in its files.
    async fn scrub(&self) -> Result<(), KeyStoreError> {
        for partition in 0..PARTITIONS {
            self.rewrite_partition(&format!("es_persons_{partition}"))
                .await?;
        }
        self.execute_all("DELETE FROM es_unscrubbed_rewrite").await
    }

    async fn execute_all(&self, statements: &'static str) -> Result<(), KeyStoreError> {
        let executed = self
            .connections
            .execute(|connection| Box::pin(sqlx::raw_sql(statements).execute(connection)));
        executed.await.map(drop)
    }

    /// Returns the next persons who have keys, in the order of their ids.
    async fn load_keys_after(&self, person: String) -> Result<Vec<PgRow>, KeyStoreError> {
        let rows = self.connections.execute(|connection| {
            let select = "SELECT person, key FROM es_persons WHERE person > $1 AND key IS NOT NULL ORDER BY person LIMIT $2";
            let select = sqlx::query(select).bind(person.clone()).bind(PAGE);
            Box::pin(select.fetch_all(connection))
        });
        rows.await
    }
}

/// Inserts the keys of new persons. Those who come while a statement runs share the next one, and its flush.
async fn insert_new_keys(connections: Arc<KeyConnections>, mut queue: mpsc::Receiver<NewKey>) {
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, MAX_BATCH).await > 0 {
        // Two instances lock the persons in one order. A person is at most once in a statement.
        let new = waiting.iter().map(|new| (new.person, new.key.clone()));
        let new: BTreeMap<_, _> = new.collect();
        let (persons, keys): (Vec<_>, Vec<_>) = new
            .into_iter()
            .map(|(person, key)| (person.to_string(), key))
            .unzip();
        let rows = connections.execute(|connection| {
            // The update changes nothing, and returns the row of a person who is known.
            let insert = "INSERT INTO es_persons (person, key) SELECT * FROM unnest($1::text[], $2::bytea[]) \
                 ON CONFLICT (person) DO UPDATE SET is_finished = es_persons.is_finished RETURNING person, key";
            let insert = sqlx::query(insert).bind(persons.clone()).bind(keys.clone());
            Box::pin(insert.fetch_all(connection))
        });
        let found = rows.await.and_then(|rows| read_keys(&rows));
        for NewKey { person, answer, .. } in waiting.drain(..) {
            let stored = found.as_ref().map_err(KeyStoreError::clone);
            let stored = stored.and_then(|found| {
                let stored = found.get(&person).cloned();
                stored.ok_or_else(|| KeyStoreError(format!("it has lost the key of {person}")))
            });
            // Whoever asked may be gone.
            let _ = answer.send(stored);
        }
    }
}

/// Reads rows of persons with their keys.
fn read_keys(rows: &[PgRow]) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
    let rows = rows.iter().map(|row| {
        let person: String = row.try_get(0)?;
        let person = person.parse().map_err(|error| failed(&error))?;
        Ok((person, stored(row.try_get(1)?)))
    });
    rows.collect()
}

fn failed(error: &dyn fmt::Display) -> KeyStoreError {
    KeyStoreError(error.to_string())
}

fn stored(key: Option<Vec<u8>>) -> StoredKey {
    key.map_or(StoredKey::Erased, StoredKey::Key)
}

#[async_trait]
impl KeyStore for PostgresKeyStore {
    fn identity(&self) -> Uuid {
        self.identity
    }

    async fn find(&self, persons: Vec<Uuid>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
        let persons: Vec<_> = persons.iter().map(Uuid::to_string).collect();
        let rows = self.connections.execute(|connection| {
            let select = "SELECT person, key FROM es_persons WHERE person = ANY($1)";
            let select = sqlx::query(select).bind(persons.clone());
            Box::pin(select.fetch_all(connection))
        });
        read_keys(&rows.await?)
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
        let erased = self.connections.execute(|connection| {
            let erase = "INSERT INTO es_persons (person, key) VALUES ($1, NULL) \
                 ON CONFLICT (person) DO UPDATE SET key = NULL RETURNING tableoid::regclass::text";
            let erase = sqlx::query(erase).bind(person.to_string());
            Box::pin(erase.fetch_one(connection))
        });
        let partition: String = erased.await?.try_get(0)?;
        let rewritten = self.rewrite_partition(&partition).await;
        rewritten.map_err(|KeyStoreError(reason)| {
            KeyStoreError(format!("the key is destroyed, but {reason}"))
        })
    }

    async fn finish_erasure(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let finished = self.connections.execute(|connection| {
            let finish =
                "UPDATE es_persons SET is_finished = true WHERE person = $1 AND key IS NULL";
            Box::pin(
                sqlx::query(finish)
                    .bind(person.to_string())
                    .execute(connection),
            )
        });
        finished.await.map(drop)
    }

    async fn unfinished_erasures(&self) -> Result<Vec<Uuid>, KeyStoreError> {
        let rows = self.connections.execute_once(LONG_TIME, |connection| {
            let select = "SELECT person FROM es_persons WHERE key IS NULL AND NOT is_finished";
            Box::pin(sqlx::query(select).fetch_all(connection))
        });
        let rows = rows.await?.into_iter();
        rows.map(|row| {
            let person: String = row.try_get(0)?;
            person.parse().map_err(|error| failed(&error))
        })
        .collect()
    }

    async fn check(&self) -> Result<(), KeyStoreError> {
        // It waits for a lock that keeps new persons out.
        self.execute_all("UPDATE es_persons SET is_finished = is_finished WHERE person = ''; UPDATE es_key_store SET id = id")
            .await
    }

    async fn has_longer_key(&self, length: usize) -> Result<bool, KeyStoreError> {
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        let found = self.connections.execute_once(LONG_TIME, |connection| {
            let select = "SELECT EXISTS (SELECT FROM es_persons WHERE octet_length(key) > $1)";
            Box::pin(sqlx::query(select).bind(length).fetch_one(connection))
        });
        Ok(found.await?.try_get(0)?)
    }

    async fn rewrite_keys(&self, rewrite: KeyRewrite) -> Result<usize, KeyStoreError> {
        let mut count: usize = 0;
        let mut last = String::new();
        loop {
            let rows = self.load_keys_after(last).await?;
            let Some(row) = rows.last() else { break };
            last = row.try_get(0)?;
            let (mut persons, mut new_keys, mut old_keys) = (Vec::new(), Vec::new(), Vec::new());
            for row in rows {
                let (person, key): (String, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
                let id = person.parse().map_err(|error| failed(&error))?;
                if let Some(new) = rewrite(id, &key)? {
                    persons.push(person);
                    new_keys.push(new);
                    old_keys.push(key);
                }
            }
            if persons.is_empty() {
                continue;
            }
            count = count.saturating_add(persons.len());
            let updated = self.connections.execute(|connection| {
                // Another instance may have erased a person meanwhile. If this start ends before the old keys are overwritten,
                // the next one does it.
                let update = "WITH begun AS (INSERT INTO es_unscrubbed_rewrite VALUES (1) ON CONFLICT DO NOTHING) \
                     UPDATE es_persons SET key = rewritten.new_key \
                     FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS rewritten (id, new_key, old_key) \
                     WHERE person = rewritten.id AND key = rewritten.old_key";
                let update = sqlx::query(update).bind(persons.clone());
                let update = update.bind(new_keys.clone()).bind(old_keys.clone());
                Box::pin(update.execute(connection))
            });
            updated.await?;
        }
        let open = self.connections.execute(|connection| {
            let open = sqlx::query("SELECT FROM es_unscrubbed_rewrite");
            Box::pin(open.fetch_optional(connection))
        });
        if open.await?.is_some() {
            self.scrub().await?;
        }
        Ok(count)
    }
}
