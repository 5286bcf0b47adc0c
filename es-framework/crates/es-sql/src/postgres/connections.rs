//! The connections to the servers of a database: one that writes, one that waits for the lock, and a pool
//! that reads.

use std::{
    sync::{Arc, PoisonError, RwLock, Weak},
    time::Duration,
};

use sqlx::{Connection as _, PgConnection, PgPool};
use tokio::{
    sync::{MappedMutexGuard, Mutex, MutexGuard},
    time::timeout,
};

use super::{
    super::{DatabaseError, DatabaseUse, QueryCost},
    database_servers::{DatabaseServers, PrimaryConnection},
    reader_pool::{ACQUIRE_TIMEOUT, ReaderPool},
    transaction_pool::refuse_transaction_pool,
};

/// The time in which a server that works accepts a connection.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// The interval of the statements by which the process with the lock shows that it runs. It is a third of the
/// time after which the server ends a session without statements.
const HEARTBEAT: Duration = Duration::from_secs(3);
/// Returns the advisory lock that grants the right to write the tables of a use in a schema. Its number is this one plus
/// the object id of the schema. That of `public` is 2200 in each database.
const fn lock_number(database_use: DatabaseUse) -> i64 {
    match database_use {
        DatabaseUse::Derived => 0x6573_5f72_6561_6473 - 2200,
        DatabaseUse::State => 0x6573_5f73_7461_7465 - 2200,
    }
}

/// Returns a row if the session has the lock from now on. The server then ends the session, and so releases the lock,
/// when it has not heard of the process for ten seconds: because the process is suspended, or because its machine
/// or the network is lost. Servers before version 14 lack `idle_session_timeout`.
const ACQUIRE: &str = "SELECT \
     set_config('idle_in_transaction_session_timeout', '10s', false), \
     CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL \
         THEN set_config('idle_session_timeout', '10s', false) END, \
     set_config('tcp_keepalives_idle', '5', false), \
     set_config('tcp_keepalives_interval', '1', false), \
     set_config('tcp_keepalives_count', '5', false), \
     set_config('tcp_user_timeout', '10s', false) \
     WHERE pg_try_advisory_lock($1 + coalesce( \
         (SELECT oid::bigint FROM pg_namespace WHERE nspname = current_schema()), 0))";

/// Returns the encoding of the database, and the schema of new tables with the right to create them in it.
const SUITABILITY: &str = "SELECT current_setting('server_encoding'), current_schema()::text, \
     has_schema_privilege(current_schema(), 'CREATE')";

/// The connections to a database.
#[derive(Debug)]
pub(super) struct Connections {
    servers: DatabaseServers,
    database_use: DatabaseUse,
    /// The longest time of a query, in milliseconds.
    query_time: String,
    readers: RwLock<ReaderPool>,
    /// The connection that has the lock.
    writer: Arc<Mutex<Option<PgConnection>>>,
    /// A connection that waits until another process releases the lock.
    waiting: Mutex<Option<PgConnection>>,
}

impl Connections {
    /// Connects to the server that accepts writes. It ends each query that runs longer than `query_time`.
    pub(super) async fn open(
        url: &str,
        query_time: Duration,
        database_use: DatabaseUse,
    ) -> Result<Self, DatabaseError> {
        let servers: DatabaseServers = url.parse()?;
        let query_time = query_time.as_millis().to_string();
        let PrimaryConnection {
            mut connection,
            server,
        } = servers.connect_to_primary().await?;
        let options = servers
            .connection_options(server)
            .ok_or(DatabaseError::Lost)?;
        refuse_transaction_pool(&mut connection, options).await?;
        refuse_unsuitable_database(&mut connection, database_use).await?;
        let readers = RwLock::new(ReaderPool::new(options, server, &query_time));
        let writer = Arc::default();
        tokio::spawn(send_heartbeats(Arc::downgrade(&writer)));
        Ok(Self {
            servers,
            database_use,
            query_time,
            readers,
            writer,
            waiting: Mutex::new(Some(connection)),
        })
    }

    /// Returns the connections for statements of this cost.
    pub(super) fn readers(&self, cost: QueryCost) -> PgPool {
        let readers = self.readers.read().unwrap_or_else(PoisonError::into_inner);
        readers.for_cost(cost).clone()
    }

    /// Returns the connection that has the lock.
    pub(super) async fn writer(&self) -> Result<MappedMutexGuard<'_, PgConnection>, DatabaseError> {
        let writer = self.writer.lock().await;
        MutexGuard::try_map(writer, Option::as_mut).map_err(|_| DatabaseError::Lost)
    }

    /// Closes the connection that writes after a failure that may have ended its session. The lock may be lost with
    /// it, so another process may write.
    pub(super) async fn close_ended_session<T>(
        &self,
        result: Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        if result.as_ref().is_err_and(DatabaseError::may_end_session) {
            self.close_writer().await;
        }
        result
    }

    /// Closes the connection that has the lock, and so releases it.
    pub(super) async fn close_writer(&self) {
        *self.writer.lock().await = None;
    }

    /// Connects to the server that accepts writes, and lets queries read from it as well.
    async fn connect(&self) -> Result<PgConnection, DatabaseError> {
        let PrimaryConnection { connection, server } = self.servers.connect_to_primary().await?;
        let options = self
            .servers
            .connection_options(server)
            .ok_or(DatabaseError::Lost)?;
        let mut readers = self.readers.write().unwrap_or_else(PoisonError::into_inner);
        if readers.server != server {
            let host = options.get_host();
            tracing::warn!(host, "another server of the database accepts writes by now");
            *readers = ReaderPool::new(options, server, &self.query_time);
        }
        Ok(connection)
    }

    /// Returns the error of a statement of the readers. The pool reports the same error for a server that
    /// does not answer as for connections that are all in use, so this asks the server.
    pub(super) async fn diagnose_reader_error(&self, error: sqlx::Error) -> DatabaseError {
        if !matches!(error, sqlx::Error::PoolTimedOut) {
            return error.into();
        }
        match timeout(PROBE_TIMEOUT, self.connect()).await {
            Ok(Ok(connection)) => {
                let _ = connection.close().await;
                error.into()
            }
            Ok(Err(unreachable)) => unreachable,
            Err(_) => DatabaseError::Unreachable(error),
        }
    }

    /// Connects and acquires the lock. The server releases it when the connection ends.
    pub(super) async fn try_acquire_lock(&self) -> Result<bool, DatabaseError> {
        let mut writer = self.writer.lock().await;
        if let Some(connection) = writer.as_mut()
            && let Ok(Ok(())) = timeout(ACQUIRE_TIMEOUT, connection.ping()).await
        {
            return Ok(true);
        }
        *writer = None;
        let mut waiting = self.waiting.lock().await;
        let mut connection = match waiting.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let acquire = sqlx::query(ACQUIRE).bind(lock_number(self.database_use));
        let acquiring = timeout(ACQUIRE_TIMEOUT, acquire.fetch_optional(&mut connection)).await;
        let acquired = acquiring.map_err(|_| DatabaseError::Lost)??;
        let is_acquired = acquired.is_some();
        if is_acquired {
            *writer = Some(connection);
        } else {
            *waiting = Some(connection);
        }
        Ok(is_acquired)
    }
}

/// Keeps the session that has the lock alive. When the server has ended it, because this process was suspended, the
/// connection is dropped, so that nothing is written without the lock.
async fn send_heartbeats(writer: Weak<Mutex<Option<PgConnection>>>) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let Some(writer) = writer.upgrade() else {
            return;
        };
        let mut writer = writer.lock().await;
        if let Some(connection) = writer.as_mut()
            && !matches!(
                timeout(ACQUIRE_TIMEOUT, connection.ping()).await,
                Ok(Ok(()))
            )
        {
            tracing::warn!("the connection that holds the right to write was lost");
            *writer = None;
        }
    }
}

/// Refuses a database that cannot store each text, and one in which the role cannot create the tables.
async fn refuse_unsuitable_database(
    connection: &mut PgConnection,
    database_use: DatabaseUse,
) -> Result<(), DatabaseError> {
    let setting = database_use.setting();
    let found = sqlx::query_as(SUITABILITY).fetch_one(connection).await?;
    let (encoding, schema, may_create): (String, Option<String>, Option<bool>) = found;
    let defect = match schema {
        _ if encoding != "UTF8" => format!(
            "has the encoding {encoding}, in which some texts cannot be stored: create one with ENCODING 'UTF8' and name it in {setting}"
        ),
        None => format!(
            "has no schema of the search path: create one, or name another one in {setting} with ?options[search_path]="
        ),
        Some(schema) if may_create != Some(true) => format!(
            "does not let this role create the tables in the schema {schema}: run GRANT CREATE ON SCHEMA {schema} TO the role of {setting}"
        ),
        Some(_) => return Ok(()),
    };
    Err(DatabaseError::Unsuitable { defect })
}

/// Ends an operation of the connection that writes if the server does not answer in time. Another server may have taken
/// over.
pub(super) async fn within<T>(
    limit: Duration,
    operation: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, DatabaseError> {
    let operation = timeout(limit, operation).await;
    operation.unwrap_or(Err(DatabaseError::Lost))
}
