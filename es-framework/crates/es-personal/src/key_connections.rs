//! The connections of a key store in PostgreSQL.

use std::sync::{Mutex, PoisonError};

use es_store_postgres::{DatabaseServers, PrimaryConnection};
use futures_util::future::BoxFuture;
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::sync::Semaphore;

use crate::key_store::KeyStoreError;

/// The most connections of an instance.
const CONNECTIONS: usize = 8;

/// The statement that limits how long all others wait for a lock.
pub(crate) const LOCK_TIMEOUT: &str = "SET lock_timeout = '10s'";

/// The connections to the server that accepts writes.
pub(crate) struct KeyConnections {
    servers: DatabaseServers,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
}

impl From<sqlx::Error> for KeyStoreError {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

impl KeyConnections {
    pub(crate) const fn new(servers: DatabaseServers) -> Self {
        Self {
            servers,
            idle: Mutex::new(Vec::new()),
            permits: Semaphore::const_new(CONNECTIONS),
        }
    }

    /// Executes statements on an idle connection or a new one. A connection with a failure is closed.
    pub(crate) async fn execute<T>(
        &self,
        act: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>,
    ) -> Result<T, KeyStoreError> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|error| KeyStoreError(error.to_string()))?;
        let mut connection = match self.take_idle().await {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let result = act(&mut connection).await?;
        let idle = self.idle.lock();
        idle.unwrap_or_else(PoisonError::into_inner)
            .push(connection);
        Ok(result)
    }

    async fn connect(&self) -> Result<PgConnection, KeyStoreError> {
        let primary = self.servers.connect_to_primary().await;
        let primary = primary.map_err(|error| KeyStoreError(error.to_string()))?;
        let PrimaryConnection { mut connection, .. } = primary;
        connection.execute(LOCK_TIMEOUT).await?;
        Ok(connection)
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
}
