//! PostgreSQL: one connection writes batches and holds the lock that grants the right to write. A pool
//! of connections reads.

mod cells;
mod reader_pool;
pub(in crate::projection) mod write;

use std::{
    collections::BTreeMap,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _};
use tokio::{sync::Mutex, time::timeout};

use self::{
    cells::{bind, stored_row},
    reader_pool::{ACQUIRE_TIMEOUT, ReaderPool},
    write::{
        drop_table, load_rows, load_skipped, lock_checkpoint, read_checkpoint, reset_table,
        swap_tables, write_batch,
    },
};
use super::{
    super::{
        Cell, RowKey, Table,
        fold::{RowChanges, TableRow},
        search_index::{create_gin_index_statement, like_pattern, searched_text_expression},
        table_statements,
    },
    CheckpointStep, DatabaseError, Sql, TableCheckpoint,
    store::ReadModelStore,
};
use es_store_postgres::{DatabaseIdentity, DatabaseServers, PrimaryConnection};

/// The time in which a server that works accepts a connection.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// The advisory lock that grants the right to write. The number has no other meaning.
const LOCK: i64 = 0x6573_5f72_6561_6473;

/// The error code of a statement that names a table which does not exist.
const UNDEFINED_TABLE: &str = "42P01";
const CREATE_EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
const HAS_SEARCH_INDEX: &str = "SELECT EXISTS (SELECT 1 FROM pg_index \
     WHERE indrelid = to_regclass($1) AND pg_get_indexdef(indexrelid) LIKE '%gin_trgm_ops%')";

const CREATE_CHECKPOINTS: &str = "CREATE TABLE IF NOT EXISTS es_checkpoint \
     (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position BIGINT, hash TEXT)";

/// The read models in a PostgreSQL database.
#[derive(Debug)]
pub(super) struct PostgresReadModelStore {
    servers: DatabaseServers,
    /// The longest time of a query, in milliseconds.
    query_time: String,
    readers: RwLock<ReaderPool>,
    /// The connection that has the lock.
    writer: Mutex<Option<PgConnection>>,
    /// A connection that waits until another process releases the lock.
    waiting: Mutex<Option<PgConnection>>,
    /// True if the server has the extension for search indexes.
    has_trigrams: AtomicBool,
}

impl PostgresReadModelStore {
    /// Connects to the server that accepts writes. It ends each query that runs longer than `query_time`.
    pub(super) async fn open(url: &str, query_time: Duration) -> Result<Self, DatabaseError> {
        let servers: DatabaseServers = url.parse()?;
        let query_time = query_time.as_millis().to_string();
        let PrimaryConnection { connection, server } = servers.connect().await?;
        let options = servers.options(server).ok_or(DatabaseError::Lost)?;
        let readers = RwLock::new(ReaderPool::new(options, server, &query_time));
        connection.close().await?;
        Ok(Self {
            servers,
            query_time,
            readers,
            writer: Mutex::default(),
            waiting: Mutex::default(),
            has_trigrams: AtomicBool::new(false),
        })
    }

    fn readers(&self) -> PgPool {
        let readers = self.readers.read().unwrap_or_else(PoisonError::into_inner);
        readers.pool.clone()
    }

    /// Connects to the server that accepts writes, and lets queries read from it as well.
    async fn connect(&self) -> Result<PgConnection, DatabaseError> {
        let PrimaryConnection { connection, server } = self.servers.connect().await?;
        let options = self.servers.options(server).ok_or(DatabaseError::Lost)?;
        let mut readers = self.readers.write().unwrap_or_else(PoisonError::into_inner);
        if readers.server != server {
            let host = options.get_host();
            tracing::warn!(
                host,
                "another server of the read models accepts writes by now"
            );
            *readers = ReaderPool::new(options, server, &self.query_time);
        }
        Ok(connection)
    }

    /// Returns the error of a statement of the readers. The pool reports the same error for a server that
    /// does not answer as for connections that are all in use, so this asks the server.
    async fn reader_error(&self, error: sqlx::Error) -> DatabaseError {
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
    async fn acquire_lock(&self) -> Result<bool, DatabaseError> {
        let mut writer = self.writer.lock().await;
        if let Some(connection) = writer.as_mut()
            && connection.ping().await.is_ok()
        {
            return Ok(true);
        }
        *writer = None;
        let mut waiting = self.waiting.lock().await;
        let mut connection = match waiting.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let acquire = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LOCK);
        let acquiring = timeout(ACQUIRE_TIMEOUT, acquire.fetch_one(&mut connection)).await;
        let is_acquired: bool = acquiring.map_err(|_| DatabaseError::Lost)??;
        if is_acquired {
            *writer = Some(connection);
        } else {
            *waiting = Some(connection);
        }
        Ok(is_acquired)
    }

    async fn prepare_tables(
        &self,
        tables: &BTreeMap<&'static str, Table>,
    ) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        for statement in [CREATE_CHECKPOINTS, table_statements::CREATE_SKIPPED] {
            sqlx::query(statement).execute(&mut *connection).await?;
        }
        let extension = sqlx::query(CREATE_EXTENSION)
            .execute(&mut *connection)
            .await;
        if let Err(error) = &extension {
            tracing::warn!(
                %error,
                "the database has no pg_trgm, so text searches look at each row"
            );
        }
        let has_trigrams = extension.is_ok();
        self.has_trigrams.store(has_trigrams, Ordering::Relaxed);
        for table in tables.values() {
            let stored = read_checkpoint(connection, table).await?;
            if stored
                .as_ref()
                .is_some_and(|stored| stored.is_current(table))
            {
                if has_trigrams {
                    create_missing_search_index(connection, table).await?;
                }
            } else if stored.and_then(|stored| stored.checkpoint).is_none() {
                // A table that has a checkpoint and another definition stays. The processor rebuilds it in a
                // shadow table.
                reset_table(connection, table, has_trigrams).await?;
            }
        }
        Ok(())
    }
}

#[async_trait]
impl ReadModelStore for PostgresReadModelStore {
    fn kind(&self) -> &'static str {
        "PostgreSQL"
    }

    fn statement_of(&self, sql: Sql) -> &'static str {
        sql.postgres
    }

    fn json_group_expression(
        &self,
        columns: &str,
        collected: &str,
        order: &str,
        only: &str,
    ) -> String {
        format!(
            "json_build_array(json_build_array({columns}), count(*), \
                 coalesce(json_agg({collected} ORDER BY {order}) FILTER (WHERE {only}), '[]'))::text"
        )
    }

    fn parameter_sign(&self) -> char {
        '$'
    }

    fn is_shared_with_events(&self) -> bool {
        true
    }

    async fn identity(&self) -> Result<Option<DatabaseIdentity>, DatabaseError> {
        let mut connection = self.readers().acquire().await?;
        Ok(DatabaseIdentity::read(&mut connection).await?)
    }

    fn rejects_zero(&self) -> bool {
        true
    }

    fn substring_conditions(
        &self,
        table: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)> {
        let text = searched_text_expression(table, column);
        let pattern = like_pattern(&substring.to_lowercase());
        // The planner uses the search index for this condition if that helps.
        vec![(format!("{text} LIKE ?"), Cell::Text(pattern))]
    }

    async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT pg_database_size(current_database())";
        self.fetch_count(size.to_owned(), Vec::new()).await
    }

    async fn fetch_rows(
        &self,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let rows = match query.fetch_all(&self.readers()).await {
            Ok(rows) => rows,
            Err(error) => return Err(self.reader_error(error).await),
        };
        rows.iter()
            .map(|row| stored_row(table.model.columns, row))
            .collect()
    }

    async fn fetch_texts(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<String>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let rows = match query.fetch_all(&self.readers()).await {
            Ok(rows) => rows,
            Err(error) => return Err(self.reader_error(error).await),
        };
        let texts = rows.iter().map(|row| row.try_get(0));
        Ok(texts.collect::<Result<_, sqlx::Error>>()?)
    }

    async fn fetch_count(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        match query.fetch_one(&self.readers()).await {
            Ok(row) => Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or_default()),
            Err(error) => Err(self.reader_error(error).await),
        }
    }

    async fn acquire_lease(
        &self,
        tables: &BTreeMap<&'static str, Table>,
    ) -> Result<bool, DatabaseError> {
        let is_acquired = self.acquire_lock().await?;
        if is_acquired {
            self.prepare_tables(tables).await?;
        }
        Ok(is_acquired)
    }

    async fn load_checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<TableCheckpoint>, DatabaseError> {
        let mut connection = self.readers().acquire().await?;
        match read_checkpoint(&mut connection, table).await {
            // The database is empty before the first process writes.
            Err(DatabaseError::Postgres(sqlx::Error::Database(error)))
                if error.code().as_deref() == Some(UNDEFINED_TABLE) =>
            {
                Ok(None)
            }
            loaded => loaded,
        }
    }

    async fn reset_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let has_trigrams = self.has_trigrams.load(Ordering::Relaxed);
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        reset_table(connection, table, has_trigrams).await
    }

    async fn drop_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        drop_table(writer.as_mut().ok_or(DatabaseError::Lost)?, table).await
    }

    async fn swap_tables(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        swap_tables(writer.as_mut().ok_or(DatabaseError::Lost)?, table).await
    }

    async fn skip_event(&self, model: &'static str, position: i64) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let skip = sqlx::query(table_statements::SKIP)
            .bind(model)
            .bind(position);
        skip.execute(connection).await?;
        Ok(())
    }

    async fn load_skipped(&self, model: &'static str) -> Result<Vec<i64>, DatabaseError> {
        load_skipped(&self.readers(), model).await
    }

    async fn load_rows(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        let mut writer = self.writer.lock().await;
        load_rows(writer.as_mut().ok_or(DatabaseError::Lost)?, table, keys).await
    }

    async fn write_batch(
        &self,
        table: &Table,
        changes: RowChanges,
        step: CheckpointStep,
    ) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let result = write_batch(connection, table, changes, step).await;
        let is_lost = |error: &DatabaseError| {
            !error.is_refusal() && !matches!(error, DatabaseError::AlreadyApplied)
        };
        if result.as_ref().is_err_and(is_lost) {
            // The lock may be lost with the connection, so another process may write.
            *writer = None;
        }
        result
    }
}

/// Creates the search index of a table that was created while the server lacked the extension.
async fn create_missing_search_index(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    let Some(create) = create_gin_index_statement(table) else {
        return Ok(());
    };
    let has_index: bool = sqlx::query_scalar(HAS_SEARCH_INDEX)
        .bind(table_statements::quote_name(&table.name()))
        .fetch_one(&mut *connection)
        .await?;
    if !has_index {
        let mut transaction = connection.begin().await?;
        lock_checkpoint(&mut transaction, table).await?;
        sqlx::query(AssertSqlSafe(create))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
    }
    Ok(())
}
