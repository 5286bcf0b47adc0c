//! The secondary database: what clients' queries are answered from.

mod checkpoint;
mod error;
mod lease;
mod sqlite;
mod url;

use std::{collections::BTreeMap, sync::Arc};

use sqlx::{AssertSqlSafe, SqlitePool};

use super::{
    ReadModels, RowKey, Table,
    fold::{Changes, StoredRow},
};

pub(super) use checkpoint::Checkpoint;
pub use error::DatabaseError;
pub use url::{DatabaseUrl, InvalidDatabaseUrl};

/// The database of the read models. Clones share it.
#[derive(Debug, Clone)]
pub struct Database {
    reader: SqlitePool,
    writer: sqlite::Writer,
    tables: Arc<BTreeMap<&'static str, Table>>,
}

impl Database {
    /// Opens the database that a setting names.
    ///
    /// # Errors
    /// SQLite cannot be opened, or refuses a table.
    pub async fn open(url: &DatabaseUrl, models: &ReadModels) -> Result<Self, DatabaseError> {
        let location = match url {
            DatabaseUrl::Memory => sqlite::Location::in_memory(),
            DatabaseUrl::File(path) => sqlite::Location::File(path.clone()),
        };
        let writer = sqlite::Writer::open(&location).await?;
        let reader = sqlite::reader(&location).await?;
        let tables = Arc::new(models.by_name());
        Ok(Self {
            reader,
            writer,
            tables,
        })
    }

    /// Opens a database in memory, which is empty.
    ///
    /// # Errors
    /// SQLite cannot be opened.
    pub async fn in_memory(models: &ReadModels) -> Result<Self, DatabaseError> {
        Self::open(&DatabaseUrl::Memory, models).await
    }

    /// Takes the right to write, unless another process has it: the tables are there from then on,
    /// those anew that are declared differently.
    pub(super) async fn take_lease(&self) -> Result<bool, DatabaseError> {
        if !self.writer.take_lease().await? {
            return Ok(false);
        }
        self.writer.prepare(Arc::clone(&self.tables)).await?;
        Ok(true)
    }

    /// How much memory or disk the rows and their indexes take, in bytes.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        let bytes: i64 = sqlx::query_scalar(size).fetch_one(&self.reader).await?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    /// The connections that queries read through; nothing can be written through them.
    #[must_use]
    pub const fn pool(&self) -> &SqlitePool {
        &self.reader
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// The rows that `statement` finds, each with its place.
    pub(crate) async fn fetch(
        &self,
        table: &Table,
        statement: String,
        parameters: Vec<super::Cell>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, sqlite::bind);
        let rows = query.fetch_all(&self.reader).await?;
        rows.iter()
            .map(|row| sqlite::stored_row(table.model.columns, row))
            .collect()
    }

    /// The texts in the first column of what `statement` finds.
    pub(crate) async fn texts(
        &self,
        statement: &'static str,
        parameters: Vec<super::Cell>,
    ) -> Result<Vec<String>, DatabaseError> {
        let query = parameters
            .into_iter()
            .fold(sqlx::query(statement), sqlite::bind);
        let rows = query.fetch_all(&self.reader).await?;
        let texts = rows.iter().map(|row| sqlx::Row::try_get(row, 0));
        Ok(texts.collect::<Result<_, sqlx::Error>>()?)
    }

    /// How many rows `statement` counts.
    pub(crate) async fn count(
        &self,
        statement: String,
        parameters: Vec<super::Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, sqlite::bind);
        let row = query.fetch_one(&self.reader).await?;
        let count: i64 = sqlx::Row::try_get(&row, 0)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// How far the table of a read model has come, unless it is declared differently.
    pub(super) async fn checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<Checkpoint>, DatabaseError> {
        self.writer.checkpoint(table.clone()).await
    }

    /// Makes the table of a read model anew: empty, as if no event had been taken.
    pub(super) async fn reset(&self, table: &Table) -> Result<(), DatabaseError> {
        self.writer.reset(table.clone()).await
    }

    /// The rows of these keys that are there.
    pub(super) async fn load(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.writer.load(table.clone(), keys).await
    }

    /// Writes the changes of a table and its checkpoint, both or neither.
    pub(super) async fn write(
        &self,
        table: &Table,
        changes: Changes,
        checkpoint: Checkpoint,
    ) -> Result<(), DatabaseError> {
        self.writer.write(table.clone(), changes, checkpoint).await
    }
    /// Has a read model taken no event yet, whatever its rows are.
    #[cfg(test)]
    pub(super) async fn forget_position(&self, model: &str) -> Result<(), DatabaseError> {
        let Some(table) = self.table(model) else {
            return Ok(());
        };
        self.writer.forget_position(table.clone()).await
    }
}
