//! PostgreSQL: one connection writes whole batches with a statement or two and holds the lock that
//! says who projects; a pool reads.

mod cells;
mod write;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::Mutex;

use self::{
    cells::{bind, bind_keys, stored_row},
    write::{read_checkpoint, remove, reset, swap, write},
};
use super::{
    super::{
        Cell, RowKey, Table,
        fold::{Changes, StoredRow},
        search_index, tables,
    },
    Checkpoint, DatabaseError, Kept,
    numbered::numbered,
};

/// How long a query waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How many queries are answered at once.
const READERS: u32 = 8;
/// The lock of those who project. The number has no meaning beyond being ours.
const LOCK: i64 = 0x6573_5f72_6561_6473;

const CREATE_EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
const HAS_SEARCH_INDEX: &str = "SELECT EXISTS (SELECT 1 FROM pg_index \
     WHERE indrelid = to_regclass($1) AND pg_get_indexdef(indexrelid) LIKE '%gin_trgm_ops%')";

const CREATE_CHECKPOINTS: &str = "CREATE TABLE IF NOT EXISTS es_checkpoint \
     (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position BIGINT, hash TEXT)";

/// A database on a server.
#[derive(Debug, Clone)]
pub(super) struct PostgresDatabase {
    options: Arc<PgConnectOptions>,
    reader: PgPool,
    writer: Arc<Mutex<Option<PgConnection>>>,
    /// True if the server has the extension for search indexes.
    has_trigrams: Arc<AtomicBool>,
}

impl PostgresDatabase {
    pub(super) async fn open(url: &str, query_time: Duration) -> Result<Self, DatabaseError> {
        let options: PgConnectOptions = url.parse()?;
        let time = query_time.as_millis().to_string();
        let reader = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options.clone().options([
                ("default_transaction_read_only", "on"),
                ("statement_timeout", time.as_str()),
                // A generic plan for a text search reads all rows.
                ("plan_cache_mode", "force_custom_plan"),
            ]))
            .await?;
        Ok(Self {
            options: Arc::new(options),
            reader,
            writer: Arc::default(),
            has_trigrams: Arc::default(),
        })
    }

    pub(super) async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT pg_database_size(current_database())";
        let bytes: i64 = sqlx::query_scalar(size).fetch_one(&self.reader).await?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    /// Takes the right to write, unless another process has it. The server gives it back when the
    /// connection ends.
    pub(super) async fn take_lease(&self) -> Result<bool, DatabaseError> {
        let mut writer = self.writer.lock().await;
        if let Some(connection) = writer.as_mut()
            && connection.ping().await.is_ok()
        {
            return Ok(true);
        }
        *writer = None;
        let mut connection = PgConnection::connect_with(&self.options).await?;
        let is_taken: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
            .bind(LOCK)
            .fetch_one(&mut connection)
            .await?;
        if is_taken {
            *writer = Some(connection);
        }
        Ok(is_taken)
    }

    pub(super) async fn prepare<'a>(
        &self,
        wanted: impl IntoIterator<Item = &'a Table>,
    ) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        for statement in [CREATE_CHECKPOINTS, tables::CREATE_SKIPPED] {
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
        for table in wanted {
            let kept = read_checkpoint(connection, table).await?;
            if !kept.is_some_and(|kept| kept.is_of(table) || kept.checkpoint.is_some()) {
                reset(connection, table, has_trigrams).await?;
            } else if has_trigrams {
                create_missing_search_index(connection, table).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn reset(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let has_trigrams = self.has_trigrams.load(Ordering::Relaxed);
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        reset(connection, table, has_trigrams).await
    }

    pub(super) async fn remove(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        remove(writer.as_mut().ok_or(DatabaseError::Lost)?, table).await
    }

    pub(super) async fn swap(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        swap(writer.as_mut().ok_or(DatabaseError::Lost)?, table).await
    }

    pub(super) async fn kept(&self, table: &Table) -> Result<Option<Kept>, DatabaseError> {
        let mut connection = self.reader.acquire().await?;
        match read_checkpoint(&mut connection, table).await {
            // Before the first process that writes there is no table.
            Err(DatabaseError::Read(sqlx::Error::Database(error)))
                if error.code().as_deref() == Some("42P01") =>
            {
                Ok(None)
            }
            read => read,
        }
    }

    pub(super) async fn skip(&self, model: &str, position: i64) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let skip = sqlx::query(tables::SKIP).bind(model).bind(position);
        skip.execute(connection).await?;
        Ok(())
    }

    pub(super) async fn skipped(&self, model: &str) -> Result<Vec<i64>, DatabaseError> {
        let skipped = sqlx::query_scalar(tables::SKIPPED).bind(model);
        Ok(skipped.fetch_all(&self.reader).await?)
    }

    pub(super) async fn load(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let key = tables::quoted(tables::key_column(table));
        let statement = format!("{} WHERE {key} = ANY($1)", tables::select(table));
        let query = bind_keys(sqlx::query(AssertSqlSafe(statement)), keys);
        let rows = query.fetch_all(connection).await?;
        rows.iter()
            .map(|row| stored_row(table.model.columns, row))
            .collect()
    }

    pub(super) async fn write(
        &self,
        table: &Table,
        changes: Changes,
        checkpoint: Checkpoint,
    ) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let written = write(connection, table, changes, checkpoint).await;
        if matches!(&written, Err(error) if !error.is_refusal()) {
            // With the connection the lock may be gone, and somebody else may write.
            *writer = None;
        }
        written
    }

    pub(super) async fn fetch(
        &self,
        table: &Table,
        statement: &str,
        parameters: Vec<Cell>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(numbered(statement, '$', 0)));
        let rows = parameters.into_iter().fold(query, bind);
        let rows = rows.fetch_all(&self.reader).await?;
        rows.iter()
            .map(|row| stored_row(table.model.columns, row))
            .collect()
    }

    pub(super) async fn count(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let count: i64 = query.fetch_one(&self.reader).await?.try_get(0)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    pub(super) async fn texts(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<String>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let rows = query.fetch_all(&self.reader).await?;
        let texts = rows.iter().map(|row| row.try_get(0));
        Ok(texts.collect::<Result<_, sqlx::Error>>()?)
    }
}

/// Creates the search index of a table that was created while the server lacked the extension.
async fn create_missing_search_index(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    let Some(create) = search_index::create_gin_index(table) else {
        return Ok(());
    };
    let has_index: bool = sqlx::query_scalar(HAS_SEARCH_INDEX)
        .bind(tables::quoted(&table.name()))
        .fetch_one(&mut *connection)
        .await?;
    if !has_index {
        sqlx::query(AssertSqlSafe(create))
            .execute(connection)
            .await?;
    }
    Ok(())
}
