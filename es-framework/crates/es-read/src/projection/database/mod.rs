//! The database of the read models.

mod caller_share;
mod database_error;
mod erasure_marks;
mod fetched_rows;
mod hold_table;
mod lease;
mod numbered;
#[cfg(feature = "postgres")]
mod postgres;
mod query_cost;
mod query_handle;
mod rows;
mod skips;
mod sql;
mod sqlite;
mod store;
mod table_checkpoint;
mod table_damage;
mod url;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::{
    Cell, ReadModels, RowKey, Table,
    held_rows::HeldRows,
    row_changes::{RowChanges, TableRow},
    row_holds::LateFailure,
};

pub use caller_share::CallerShare;
pub use database_error::DatabaseError;
pub(crate) use fetched_rows::FetchedRows;
#[cfg(feature = "postgres")]
use fetched_rows::RowSize;
use numbered::replace_question_marks;
#[cfg(feature = "postgres")]
use postgres::PostgresReadModelStore;
pub(crate) use query_cost::QueryCost;
pub(crate) use rows::{TableColumn, written_columns};
pub use sql::Sql;
use sqlite::{SqliteLocation, SqliteReadModelStore};
use store::ReadModelStore;
pub(super) use table_checkpoint::{Checkpoint, TableCheckpoint};
pub use url::{DatabaseUrl, InvalidDatabaseUrl};

/// The default time limit of a query.
const QUERY_TIME: Duration = Duration::from_secs(10);

/// The database of the read models. Clones share it.
///
/// ```
/// use es_framework::projection::{Database, ReadModels};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_framework::projection::DatabaseError> {
/// let database = Database::in_memory(&ReadModels::default()).await?;
/// assert_eq!(database.kind(), "SQLite");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Database {
    store: Arc<dyn ReadModelStore>,
    tables: Arc<BTreeMap<&'static str, Table>>,
    /// The share of the caller that this handle works for.
    share: Option<CallerShare>,
    /// The held rows that the query of this handle reports.
    held: HeldRows,
    /// Tells the processor that a query found a damaged table.
    damage: Arc<Notify>,
}

impl Database {
    /// Opens the database that a setting names.
    ///
    /// # Errors
    /// It cannot be opened or reached.
    pub fn open<'a>(
        url: &'a DatabaseUrl,
        models: &'a ReadModels,
    ) -> BoxFuture<'a, Result<Self, DatabaseError>> {
        Self::open_with_query_timeout(url, models, QUERY_TIME)
    }

    /// Opens the database that a setting names. The database ends each query that runs longer than
    /// `query_time`.
    pub fn open_with_query_timeout<'a>(
        url: &'a DatabaseUrl,
        models: &'a ReadModels,
        query_time: Duration,
    ) -> BoxFuture<'a, Result<Self, DatabaseError>> {
        Box::pin(async move {
            let sqlite = async |location| {
                let store = SqliteReadModelStore::open(location, query_time).await?;
                Ok::<Arc<dyn ReadModelStore>, DatabaseError>(Arc::new(store))
            };
            let store = match url {
                DatabaseUrl::Memory => sqlite(SqliteLocation::unique_in_memory()).await?,
                DatabaseUrl::File(path) => sqlite(SqliteLocation::File(path.clone())).await?,
                #[cfg(not(feature = "postgres"))]
                DatabaseUrl::Postgres(_) => return Err(DatabaseError::MissingFeature),
                #[cfg(feature = "postgres")]
                DatabaseUrl::Postgres(url) => {
                    Arc::new(PostgresReadModelStore::open(url, query_time).await?)
                }
            };
            let tables = Arc::new(models.tables_by_name());
            Ok(Self {
                store,
                tables,
                share: None,
                held: HeldRows::default(),
                damage: Arc::default(),
            })
        })
    }

    /// Opens a database in memory, which is empty.
    ///
    /// # Errors
    /// SQLite cannot be opened.
    pub fn in_memory(models: &ReadModels) -> BoxFuture<'_, Result<Self, DatabaseError>> {
        Self::open(&DatabaseUrl::Memory, models)
    }

    /// Returns the name of the database product.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.store.kind()
    }

    /// Returns the size of the database in memory or on disk, in bytes.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn size(&self) -> Result<u64, DatabaseError> {
        self.store.size().await
    }

    /// Checks that the database answers, on a connection that no query uses.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn probe(&self) -> Result<(), DatabaseError> {
        let statement = "SELECT count(*)".to_owned();
        let probed = self
            .store
            .fetch_count(QueryCost::Probe, statement, Vec::new());
        probed.await.map(drop)
    }

    /// Returns the number of expensive statements that the database runs at once.
    #[doc(hidden)]
    #[must_use]
    pub fn scan_limit(&self) -> u32 {
        self.store.scan_limit()
    }

    pub(crate) fn find_table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// Returns the rows that a statement selects, each with its position, up to a size. The statement marks its
    /// parameters with `?`.
    pub(crate) async fn fetch_rows(
        &self,
        cost: QueryCost,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<TableRow>, DatabaseError> {
        let statement = self.replace_question_marks(&statement, 0);
        let _permit = self.acquire_share(cost).await?;
        let store = &self.store;
        let rows = store.fetch_rows(cost, table, statement, parameters, most_bytes);
        let rows = self.report_damage(rows.await)?;
        self.held.record_rows(table, &rows.rows);
        Ok(rows)
    }

    /// Returns the first column of the rows that a statement selects, up to a size. The statement numbers its
    /// parameters.
    pub(crate) async fn fetch_texts(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<String>, DatabaseError> {
        self.held.record_unknown_rows();
        let _permit = self.acquire_share(cost).await?;
        let texts = self
            .store
            .fetch_texts(cost, statement, parameters, most_bytes);
        self.report_damage(texts.await)
    }

    /// Returns the number that a statement selects. The statement marks its parameters with `?`.
    pub(crate) async fn fetch_count(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let statement = self.replace_question_marks(&statement, 0);
        self.held.record_count();
        let _permit = self.acquire_share(cost).await?;
        let count = self.store.fetch_count(cost, statement, parameters);
        self.report_damage(count.await)
    }

    /// Returns a hand-written statement in the SQL dialect of this database.
    pub(crate) fn dialect_statement(&self, statement: Sql) -> &'static str {
        self.store.dialect_statement(statement)
    }

    /// Numbers the parameters `?` of a statement that comes after `others` other parameters.
    pub(crate) fn replace_question_marks(&self, sql: &str, others: usize) -> String {
        replace_question_marks(sql, self.store.parameter_sign(), others)
    }

    /// Returns the SQL expression for the text of a JSON array with these elements.
    pub(crate) fn json_array_expression(&self, elements: &str) -> String {
        self.store.json_array_expression(elements)
    }

    /// Returns the SQL expression for the JSON list of a column in each group of rows, in the order of the positions.
    /// `filter` is a `FILTER` clause, or empty.
    pub(crate) fn json_list_expression(&self, column: &str, filter: &str) -> String {
        self.store.json_list_expression(column, filter)
    }

    /// Returns the SQL expression for the value of a column in the row with the smallest position of each group. The
    /// statement also selects the smallest position. `has_extremes` tells that it selects another `min` or `max`.
    pub(crate) fn first_value_expression(&self, column: &str, has_extremes: bool) -> String {
        self.store.first_value_expression(column, has_extremes)
    }

    /// Returns the SQL conditions for a search column, which is given as SQL, that contains a substring in the form of
    /// the column. Each has a parameter, and all of them have to hold. SQLite has up to two: a lookup in the
    /// search index and the exact comparison.
    pub(crate) fn substring_conditions(
        &self,
        table: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)> {
        self.store.substring_conditions(table, column, substring)
    }

    /// Returns the prefix of a column as SQL, if an index contains the prefix instead of the text.
    pub(crate) fn indexed_prefix(&self, table: &Table, column: &str) -> Option<String> {
        self.store.indexed_prefix(table, column)
    }

    /// Returns true if texts of the database cannot contain the NUL character.
    pub(crate) fn rejects_nul_character(&self) -> bool {
        self.store.rejects_nul_character()
    }

    /// Acquires the right to write, unless another process has it, and creates the missing tables.
    pub(super) async fn try_become_writer(&self) -> Result<bool, DatabaseError> {
        self.store.try_become_writer(&self.tables).await
    }

    /// Loads the definition and the checkpoint of a table.
    pub(super) async fn load_checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<TableCheckpoint>, DatabaseError> {
        self.store.load_checkpoint(table).await
    }

    /// Replaces a table by an empty one without a checkpoint.
    pub(super) async fn reset_table(&self, table: &Table) -> Result<(), DatabaseError> {
        self.store.reset_table(table).await
    }

    /// Drops a table, if it exists, and deletes its checkpoint.
    pub(super) async fn drop_table(&self, table: &Table) -> Result<(), DatabaseError> {
        self.store.drop_table(table).await
    }

    /// Replaces a table by its shadow table.
    pub(super) async fn swap_tables(&self, table: &Table) -> Result<(), DatabaseError> {
        self.store.swap_tables(table).await
    }

    /// Loads the rows with these keys.
    pub(super) async fn load_rows(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        // A statement with such a key fails, and no row has it.
        let is_storable = |key: &RowKey| !self.rejects_nul_character() || !key.has_nul_character();
        let keys: Vec<_> = keys.into_iter().filter(is_storable).collect();
        if keys.is_empty() {
            Ok(Vec::new())
        } else {
            self.store.load_rows(table, keys).await
        }
    }

    /// Writes the changes of a table and its checkpoint in one transaction.
    pub(super) async fn write_batch(
        &self,
        table: &Table,
        changes: RowChanges,
        to: Checkpoint,
    ) -> Result<(), DatabaseError> {
        self.store.write_batch(table, changes, to).await
    }

    /// Finds the rows of a batch that the database refuses. Nothing is written.
    pub(super) async fn find_refusals(
        &self,
        table: &Table,
        changes: RowChanges,
    ) -> Result<Vec<LateFailure>, DatabaseError> {
        self.store.find_refusals(table, changes).await
    }

    /// Deletes the checkpoint of a read model but not its rows.
    #[cfg(test)]
    pub(super) async fn forget_position(&self, model: &str) -> Result<(), DatabaseError> {
        match self.find_table(model) {
            Some(table) => self.store.forget_position(table).await,
            None => Ok(()),
        }
    }

    /// Limits the size of the database.
    #[cfg(test)]
    pub(super) async fn limit_pages(&self, pages: u32) -> Result<(), DatabaseError> {
        self.store.limit_pages(pages).await
    }
}
