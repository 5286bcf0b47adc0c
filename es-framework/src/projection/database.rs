//! The secondary database: SQLite in memory, rebuilt from the events at each start.

use std::time::Duration;

use sqlx::{
    AssertSqlSafe, Row as _, Sqlite, SqlitePool, Transaction,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use super::{ReadModels, tables};
use crate::event::EventId;

/// How long a query waits for its turn.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The database that clients' queries are answered from.
#[derive(Debug, Clone)]
pub struct Database {
    pool: SqlitePool,
}

/// The database did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error("the database of read models failed: {0}")]
pub struct DatabaseError(#[from] sqlx::Error);

impl Database {
    /// Opens a database in memory with an empty table for each read model.
    ///
    /// # Errors
    /// SQLite cannot be opened, or refuses a table.
    pub async fn in_memory(models: &ReadModels) -> Result<Self, DatabaseError> {
        // A database in memory lives as long as its connection: one, and it is never given up.
        let pool = SqlitePoolOptions::new()
            .min_connections(1)
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(SqliteConnectOptions::new().in_memory(true))
            .await?;
        let database = Self { pool };
        database.prepare(models).await?;
        Ok(database)
    }

    /// How much memory the rows and their indexes take, in bytes.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        let bytes: i64 = sqlx::query_scalar(size).fetch_one(&self.pool).await?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    pub(crate) const fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Creates what is not there yet.
    pub(super) async fn prepare(&self, models: &ReadModels) -> Result<(), DatabaseError> {
        let tables = models.iter().map(tables::create);
        for statement in tables.chain([tables::CREATE_CHECKPOINT.to_owned()]) {
            sqlx::query(AssertSqlSafe(statement))
                .execute(&self.pool)
                .await?;
        }
        Ok(())
    }

    /// The last event whose effects the tables hold.
    pub(super) async fn checkpoint(&self) -> Result<Option<EventId>, DatabaseError> {
        let row = sqlx::query(tables::READ_CHECKPOINT)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let position: i64 = row.try_get(0)?;
        Ok(u64::try_from(position).ok().and_then(EventId::new))
    }

    pub(super) async fn begin(&self) -> Result<Transaction<'static, Sqlite>, DatabaseError> {
        Ok(self.pool.begin().await?)
    }
}
