//! Keys in PostgreSQL, for several instances.
//!
//! An update leaves the old version of its row in the table, and `VACUUM` alone makes its space reusable without
//! overwriting it. Only `VACUUM FULL` writes a table anew, while nobody can use it. Therefore persons are spread over many
//! small partitions, and an erasure rewrites one of them.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use es_store_postgres::{DatabaseServers, PrimaryConnection};
use futures_util::future::BoxFuture;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::key_store::{KeyRewrite, KeyStore, KeyStoreError, StoredKey};

/// `ANALYZE` would copy keys into the statistics of a column. Two instances that start at once create the tables one after the other. Earlier releases had one table for all persons.
const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(4150171429);
    CREATE TABLE IF NOT EXISTS es_key_store (only_row integer PRIMARY KEY CHECK (only_row = 1), id text NOT NULL);
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
        IF to_regclass('es_persons_of_one_table') IS NOT NULL THEN
            INSERT INTO es_persons SELECT person, key, is_finished FROM es_persons_of_one_table;
            DROP TABLE es_persons_of_one_table;
        END IF;
    END $$;
";

/// The most connections of an instance. Each new person waits for one flush of the server.
const CONNECTIONS: usize = 8;

/// The statement that limits how long an erasure waits for the lock of a partition.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '1s'";

/// A key store in a PostgreSQL database. Its connections go to the server that accepts writes.
#[doc(hidden)]
pub struct PostgresKeyStore {
    servers: DatabaseServers,
    identity: Uuid,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
}

impl fmt::Debug for PostgresKeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresKeyStore")
            .field(&self.identity)
            .finish()
    }
}

impl From<sqlx::Error> for KeyStoreError {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

impl PostgresKeyStore {
    /// Connects to the database, and creates the tables if they are missing.
    pub async fn open(url: &str) -> Result<Self, KeyStoreError> {
        let servers: DatabaseServers = url.parse().map_err(|error| failed(&error))?;
        let primary = servers.connect_to_primary().await;
        let PrimaryConnection { mut connection, .. } = primary.map_err(|error| failed(&error))?;
        sqlx::raw_sql(SCHEMA).execute(&mut connection).await?;
        let insert =
            "INSERT INTO es_key_store (only_row, id) VALUES (1, $1) ON CONFLICT DO NOTHING";
        let insert = sqlx::query(insert).bind(Uuid::new_v4().to_string());
        insert.execute(&mut connection).await?;
        let select = sqlx::query("SELECT id FROM es_key_store");
        let identity: String = select.fetch_one(&mut connection).await?.try_get(0)?;
        Ok(Self {
            servers,
            identity: identity.parse().map_err(|error| failed(&error))?,
            idle: Mutex::new(vec![connection]),
            permits: Semaphore::new(CONNECTIONS),
        })
    }

    /// Executes statements on an idle connection or a new one. A connection with a failure is closed.
    async fn execute<T>(
        &self,
        act: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>,
    ) -> Result<T, KeyStoreError> {
        let _permit = self
            .permits
            .acquire()
            .await
            .map_err(|error| failed(&error))?;
        let mut connection = match self.take_idle().await {
            Some(connection) => connection,
            None => {
                let primary = self.servers.connect_to_primary().await;
                primary.map_err(|error| failed(&error))?.connection
            }
        };
        let result = act(&mut connection).await?;
        let idle = self.idle.lock();
        idle.unwrap_or_else(PoisonError::into_inner)
            .push(connection);
        Ok(result)
    }

    /// Returns an idle connection that the server has not ended.
    async fn take_idle(&self) -> Option<PgConnection> {
        loop {
            let idle = self
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop();
            let mut connection = idle?;
            if connection.ping().await.is_ok() {
                return Some(connection);
            }
        }
    }

    /// Writes a partition anew. It fails if others use the partition for longer than [`LOCK_TIMEOUT`], because everything
    /// about the persons in it waits behind this statement.
    async fn rewrite_partition(&self, partition: &str) -> Result<(), KeyStoreError> {
        let vacuum = format!("VACUUM FULL {partition}");
        let vacuumed = self.execute(|connection| {
            Box::pin(async move {
                // `VACUUM` does not run in the transaction of several statements.
                for statement in [LOCK_TIMEOUT, &vacuum, "RESET lock_timeout"] {
                    let statement = AssertSqlSafe(statement.to_owned());
                    sqlx::raw_sql(statement).execute(&mut *connection).await?;
                }
                Ok(())
            })
        });
        vacuumed.await.map_err(|KeyStoreError(reason)| {
            KeyStoreError(format!(
                "the key is destroyed, but {partition} cannot be written anew, which removes its copies: {reason}; a backup of the key store may be running, so repeat the command after it"
            ))
        })
    }
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
        let rows = self.execute(|connection| {
            let select = "SELECT person, key FROM es_persons WHERE person = ANY($1)";
            Box::pin(sqlx::query(select).bind(persons).fetch_all(connection))
        });
        let mut found = HashMap::new();
        for row in rows.await? {
            let person: String = row.try_get(0)?;
            let person = person.parse().map_err(|error| failed(&error))?;
            found.insert(person, stored(row.try_get(1)?));
        }
        Ok(found)
    }

    async fn find_or_insert(&self, person: Uuid, key: Vec<u8>) -> Result<StoredKey, KeyStoreError> {
        let row = self.execute(|connection| {
            // The update changes nothing, and returns the row of a person who is known.
            let insert = "INSERT INTO es_persons (person, key) VALUES ($1, $2) \
                 ON CONFLICT (person) DO UPDATE SET is_finished = es_persons.is_finished RETURNING key";
            let insert = sqlx::query(insert).bind(person.to_string()).bind(key);
            Box::pin(insert.fetch_one(connection))
        });
        Ok(stored(row.await?.try_get(0)?))
    }

    async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let erased = self.execute(|connection| {
            let erase = "INSERT INTO es_persons (person, key) VALUES ($1, NULL) \
                 ON CONFLICT (person) DO UPDATE SET key = NULL RETURNING tableoid::regclass::text";
            let erase = sqlx::query(erase).bind(person.to_string());
            Box::pin(erase.fetch_one(connection))
        });
        let partition: String = erased.await?.try_get(0)?;
        self.rewrite_partition(&partition).await
    }

    async fn finish_erasure(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let finished = self.execute(|connection| {
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
        let rows = self.execute(|connection| {
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

    async fn scrub(&self) -> Result<(), KeyStoreError> {
        let vacuum = self.execute(|connection| {
            Box::pin(sqlx::raw_sql("VACUUM FULL es_persons").execute(connection))
        });
        vacuum.await.map(drop)
    }

    async fn rewrite_keys(&self, rewrite: KeyRewrite) -> Result<usize, KeyStoreError> {
        let rows = self.execute(|connection| {
            let select = "SELECT person, key FROM es_persons WHERE key IS NOT NULL";
            Box::pin(sqlx::query(select).fetch_all(connection))
        });
        let mut count: usize = 0;
        for row in rows.await? {
            let (person, key): (String, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
            let id = person.parse().map_err(|error| failed(&error))?;
            let Some(new) = rewrite(id, &key)? else {
                continue;
            };
            let updated = self.execute(|connection| {
                // Another instance may have erased the person meanwhile.
                let update = "UPDATE es_persons SET key = $2 WHERE person = $1 AND key = $3";
                let update = sqlx::query(update).bind(person).bind(new).bind(key);
                Box::pin(update.execute(connection))
            });
            updated.await?;
            count = count.saturating_add(1);
        }
        if count > 0 {
            self.scrub().await?;
        }
        Ok(count)
    }
}
