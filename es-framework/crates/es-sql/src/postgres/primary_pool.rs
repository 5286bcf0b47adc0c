//! Connections to the server that accepts writes, for several instances that write at the same time.

use std::{
    fmt, io, mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::{sync::Semaphore, time::timeout};

use super::{
    super::{Cell, Statement, statement::Parameters},
    database_servers::{DatabaseServers, PrimaryConnection},
    postgres_database::select_rows,
    retry_schedule::RetrySchedule,
    server_race::accepts_writes,
    server_settings::find_unsafe_setting,
    transaction_pool::refuse_transaction_pool,
};

/// The most connections of an instance.
const CONNECTIONS: usize = 8;

/// The longest time for an answer to the smallest query.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The longest time of one attempt of a transaction. It is longer than that for a lock.
const STATEMENT_TIME: Duration = Duration::from_secs(5);

/// The time for which a transaction is tried again after failures, such as a failover.
const RETRY_TIME: Duration = Duration::from_secs(15);

/// The statement that limits how long all others wait for a lock.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '4s'";

/// The parameter of a URL that accepts a server which may lose what it has confirmed.
const ACCEPTS_LOSS: &str = "durability=unsafe";

/// Connections to the server that accepts writes.
#[doc(hidden)]
pub struct PrimaryPool {
    servers: DatabaseServers,
    accepts_loss: bool,
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
}

impl fmt::Debug for PrimaryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PrimaryPool").field(&self.servers).finish()
    }
}

impl PrimaryPool {
    /// Connects to the database, and refuses a connection pool that mixes sessions.
    pub(crate) async fn open(url: &str) -> Result<Self, sqlx::Error> {
        let pool = Self {
            servers: url.replace(ACCEPTS_LOSS, "").parse()?,
            accepts_loss: url.contains(ACCEPTS_LOSS),
            idle: Mutex::default(),
            permits: Semaphore::new(CONNECTIONS),
        };
        let mut primary = pool.connect().await?;
        if let Some(options) = pool.servers.connection_options(primary.server) {
            refuse_transaction_pool(&mut primary.connection, options).await?;
        }
        pool.lock_idle().push(primary.connection);
        Ok(pool)
    }

    /// Runs a statement in one transaction until it succeeds or its time is over, and returns the rows that it selects.
    pub(crate) async fn transact(
        &self,
        statement: &Statement,
    ) -> Result<Vec<Vec<Cell>>, sqlx::Error> {
        let mut schedule = RetrySchedule::new(RETRY_TIME);
        loop {
            let attempt = self.attempt(STATEMENT_TIME, vec![statement.clone()]);
            match attempt.await {
                Err(error) if schedule.wait_after(&error).await => {}
                result => return result,
            }
        }
    }

    /// Runs statements once, each by itself, and returns the rows that they select. They may change the limit of the time
    /// that they wait for a lock.
    pub(crate) async fn run_once(
        &self,
        limit: Duration,
        mut statements: Vec<Statement>,
    ) -> Result<Vec<Vec<Cell>>, sqlx::Error> {
        statements.push(Statement::plain(LOCK_TIMEOUT));
        self.attempt(limit, statements).await
    }

    /// Runs statements on an idle connection or a new one. After a failure, all connections are closed: they lead to the
    /// same server.
    async fn attempt(
        &self,
        limit: Duration,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<Cell>>, sqlx::Error> {
        let permit = self.permits.acquire().await;
        let _permit = permit.map_err(|_| sqlx::Error::PoolClosed)?;
        let run = async {
            let mut connection = match self.take_idle().await {
                Some(connection) => connection,
                None => self.connect().await?.connection,
            };
            let selected = within(limit, run_on_connection(&mut connection, statements)).await?;
            Ok::<_, sqlx::Error>((connection, selected))
        };
        let (connection, selected) = run.await.inspect_err(|_| self.close_idle())?;
        self.lock_idle().push(connection);
        Ok(selected)
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

/// Runs statements, each in a transaction of its own, and returns the rows that they select.
async fn run_on_connection(
    connection: &mut PgConnection,
    statements: Vec<Statement>,
) -> Result<Vec<Vec<Cell>>, sqlx::Error> {
    let mut selected = Vec::new();
    for statement in statements {
        match &statement.parameters {
            // `VACUUM` does not run within a transaction.
            Parameters::None => {
                let plain = sqlx::raw_sql(AssertSqlSafe(statement.sql));
                plain.execute(&mut *connection).await?;
            }
            Parameters::Rows(rows) if rows.len() > 1 => {
                let mut transaction = connection.begin().await?;
                selected.extend(select_rows(&mut transaction, statement).await?);
                transaction.commit().await?;
            }
            Parameters::Rows(_) | Parameters::Arrays(_) => {
                selected.extend(select_rows(connection, statement).await?);
            }
        }
    }
    Ok(selected)
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
