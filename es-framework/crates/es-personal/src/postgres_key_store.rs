//! Keys in PostgreSQL, for several instances.

use std::{collections::HashMap, fmt};

use async_trait::async_trait;
use es_store_postgres::{DatabaseServers, PrimaryConnection};
use futures_util::future::BoxFuture;
use sqlx::{Connection as _, PgConnection, Row as _};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::key_store::{KeyRewrite, KeyStore, KeyStoreError, StoredKey};

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS es_key_store (only_row integer PRIMARY KEY CHECK (only_row = 1), id text NOT NULL);
    CREATE TABLE IF NOT EXISTS es_persons (
        person text PRIMARY KEY,
        key bytea,
        is_finished boolean NOT NULL DEFAULT false
    );
    ALTER TABLE es_persons SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
";

/// A key store in a PostgreSQL database. Its connection goes to the server that accepts writes.
#[doc(hidden)]
pub struct PostgresKeyStore {
    servers: DatabaseServers,
    identity: Uuid,
    connection: Mutex<Option<PgConnection>>,
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
        // Two instances that start at once may create the tables at once. The second attempt finds them.
        if sqlx::raw_sql(SCHEMA)
            .execute(&mut connection)
            .await
            .is_err()
        {
            sqlx::raw_sql(SCHEMA).execute(&mut connection).await?;
        }
        let insert =
            "INSERT INTO es_key_store (only_row, id) VALUES (1, $1) ON CONFLICT DO NOTHING";
        let insert = sqlx::query(insert).bind(Uuid::new_v4().to_string());
        insert.execute(&mut connection).await?;
        let select = sqlx::query("SELECT id FROM es_key_store");
        let identity: String = select.fetch_one(&mut connection).await?.try_get(0)?;
        Ok(Self {
            servers,
            identity: identity.parse().map_err(|error| failed(&error))?,
            connection: Mutex::new(Some(connection)),
        })
    }

    /// Executes statements. After a failure, the next call connects again.
    async fn execute<T>(
        &self,
        act: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>,
    ) -> Result<T, KeyStoreError> {
        let mut guard = self.connection.lock().await;
        let mut known = guard.take();
        let is_open = match &mut known {
            Some(connection) => connection.ping().await.is_ok(),
            None => false,
        };
        let mut connection = match known.filter(|_| is_open) {
            Some(connection) => connection,
            None => {
                let primary = self.servers.connect_to_primary().await;
                primary.map_err(|error| failed(&error))?.connection
            }
        };
        let result = act(&mut connection).await?;
        *guard = Some(connection);
        Ok(result)
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
                 ON CONFLICT (person) DO UPDATE SET key = NULL";
            Box::pin(
                sqlx::query(erase)
                    .bind(person.to_string())
                    .execute(connection),
            )
        });
        erased.await?;
        self.scrub().await
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
