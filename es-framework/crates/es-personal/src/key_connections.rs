//! The connections of a key store in PostgreSQL.

use std::{
    io, mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use es_sql::postgres::{
    DatabaseServers, PrimaryConnection, RetrySchedule, accepts_writes, find_unsafe_setting,
    refuse_transaction_pool,
};
use futures_util::future::BoxFuture;
use sqlx::{Executor as _, PgConnection};
use tokio::{sync::Semaphore, time::timeout};

use crate::key_store::KeyStoreError;

/// The most connections of an instance.
const CONNECTIONS: usize = 8;

/// The longest time for an answer to the smallest query.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The longest time of a statement about some persons. It is longer than that for a lock.
const STATEMENT_TIME: Duration = Duration::from_secs(5);

/// The time for which a statement is tried again after failures, such as a failover.
const RETRY_TIME: Duration = Duration::from_secs(15);

/// The statement that limits how long all others wait for a lock.
pub(crate) const LOCK_TIMEOUT: &str = "SET lock_timeout = '4s'";

/// The parameter of a URL that accepts a server which may lose what it has confirmed.
const ACCEPTS_LOSS: &str = "durability=unsafe";

/// The connections to the server that accepts writes.
pub(crate) struct KeyConnections {
    servers: DatabaseServers,
    accepts_loss: bool,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
}

impl From<sqlx::Error> for KeyStoreError {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

impl KeyConnections {
    /// Connects to the database, and refuses a connection pool that mixes sessions.
    pub(crate) async fn open(url: &str) -> Result<Self, sqlx::Error> {
        let connections = Self {
            servers: url.replace(ACCEPTS_LOSS, "").parse()?,
            accepts_loss: url.contains(ACCEPTS_LOSS),
            idle: Mutex::default(),
            permits: Semaphore::new(CONNECTIONS),
        };
        let mut primary = connections.connect().await?;
        if let Some(options) = connections.servers.connection_options(primary.server) {
            refuse_transaction_pool(&mut primary.connection, options).await?;
        }
        connections.lock_idle().push(primary.connection);
        Ok(connections)
    }

    /// Executes statements about some persons until they succeed. They may run twice, so that has to be the same as once.
    pub(crate) async fn execute<T>(
        &self,
        act: impl for<'c> Fn(&'c mut PgConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>,
    ) -> Result<T, KeyStoreError> {
        let mut schedule = RetrySchedule::new(RETRY_TIME);
        loop {
            match self.execute_once(STATEMENT_TIME, &act).await {
                Err(error) if schedule.wait_after(&error).await => {}
                result => return Ok(result?),
            }
        }
    }

    /// Executes statements on an idle connection or a new one. After a failure, all connections are closed: they lead to
    /// the same server.
    pub(crate) async fn execute_once<T>(
        &self,
        limit: Duration,
        act: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|_| sqlx::Error::PoolClosed)?;
        let executed = async {
            let mut connection = match self.take_idle().await {
                Some(connection) => connection,
                None => self.connect().await?.connection,
            };
            let output = within(limit, act(&mut connection)).await?;
            Ok::<_, sqlx::Error>((connection, output))
        };
        let executed = executed.await;
        let (connection, output) = executed.inspect_err(|_| self.close_idle())?;
        self.lock_idle().push(connection);
        Ok(output)
    }

    async fn connect(&self) -> Result<PrimaryConnection, sqlx::Error> {
        let mut primary = self.servers.connect_to_primary().await?;
        let prepared = async {
            if !self.accepts_loss
                && let Some(server) = find_unsafe_setting(&mut primary.connection, false).await?
            {
                return Err(sqlx::Error::Configuration(server.into()));
            }
            primary.connection.execute(LOCK_TIMEOUT).await
        };
        within(STATEMENT_TIME, prepared).await?;
        Ok(primary)
    }

    /// Returns an idle connection whose server still answers and accepts writes.
    async fn take_idle(&self) -> Option<PgConnection> {
        let mut connection = self.lock_idle().pop()?;
        let checked = within(ANSWER_TIME, accepts_writes(&mut connection)).await;
        if matches!(checked, Ok(true)) {
            return Some(connection);
        }
        self.close_idle();
        None
    }

    fn close_idle(&self) {
        drop(mem::take(&mut *self.lock_idle()));
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<PgConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn within<T>(
    limit: Duration,
    statements: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    timeout(limit, statements).await.unwrap_or_else(|_| {
        let reason = "the server does not answer in time";
        Err(io::Error::new(io::ErrorKind::TimedOut, reason).into())
    })
}
