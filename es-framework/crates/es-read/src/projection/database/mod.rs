//! The database of the read models.

mod caller_share;
mod dialect;
mod failure;
mod hold_table;
mod numbered;
mod query_handle;
mod rows;
mod search_index_update;
mod skips;
mod sql;
mod table_checkpoint;
mod table_damage;
mod write;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::{Cell, ReadModels, RowKey, Table, held_rows::HeldRows, row_changes::TableRow};
pub(crate) use dialect::Dialect;
use dialect::dialect_of;
use es_sql::{DatabaseUse, SqlDatabase};

pub use caller_share::CallerShare;
pub use es_sql::{DatabaseError, DatabaseUrl, InvalidDatabaseUrl};
pub(crate) use es_sql::{FetchedRows, QueryCost};
pub(super) use failure::subscriber_failure;
use numbered::replace_question_marks;
pub(crate) use rows::{TableColumn, written_columns};
pub use sql::Sql;
pub(super) use table_checkpoint::TableCheckpoint;

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
    sql: SqlDatabase,
    dialect: Arc<dyn Dialect>,
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
            let sql = SqlDatabase::open(url, query_time, DatabaseUse::Derived).await?;
            let dialect = dialect_of(sql.engine());
            let tables = Arc::new(models.tables_by_name());
            Ok(Self {
                sql,
                dialect,
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
        self.dialect.name()
    }

    /// Returns the size of the database in memory or on disk, in bytes.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn size(&self) -> Result<u64, DatabaseError> {
        let select = self.dialect.select_size().to_owned();
        self.select_number(QueryCost::Lookup, select, Vec::new())
            .await
    }

    /// Checks that the database answers, on a connection that no query uses.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn probe(&self) -> Result<(), DatabaseError> {
        let statement = "SELECT count(*)".to_owned();
        let probed = self.select_number(QueryCost::Probe, statement, Vec::new());
        probed.await.map(drop)
    }

    /// Returns the number of expensive statements that the database runs at once.
    #[doc(hidden)]
    #[must_use]
    pub fn scan_limit(&self) -> u32 {
        self.sql.scan_limit()
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
        let numbered = self.replace_question_marks(&statement, 0);
        let _permit = self.acquire_share(cost).await?;
        let queried = self.sql.query(cost, numbered, parameters, most_bytes).await;
        let rows = self
            .report_damage(queried)?
            .try_map(|cells| Ok::<_, DatabaseError>(TableRow::from_cells(cells)))?;
        self.held.record_rows(table, &rows.rows);
        Ok(rows)
    }

    /// Returns the first column of the rows that a statement selects, up to a size. The statement numbers its
    /// parameters.
    pub(crate) async fn fetch_texts_up_to(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<String>, DatabaseError> {
        self.held.record_unknown_rows();
        let _permit = self.acquire_share(cost).await?;
        let queried = self.sql.query(cost, statement, parameters, most_bytes);
        self.report_damage(queried.await)?.try_map(|cells| {
            let text = cells.into_iter().next().and_then(Cell::into_text);
            text.ok_or(DatabaseError::NoText)
        })
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
        let count = self.select_number(cost, statement, parameters);
        self.report_damage(count.await)
    }

    async fn select_number(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let selected = self.sql.query(cost, statement, parameters, usize::MAX);
        let cells = selected.await?.rows.into_iter().flatten();
        let number = cells.filter_map(|cell| cell.as_integer()).next();
        Ok(number
            .and_then(|number| u64::try_from(number).ok())
            .unwrap_or_default())
    }

    /// Returns the few rows that a statement selects from a table of the framework, which may not exist yet.
    async fn look_up(
        &self,
        statement: &str,
        parameters: Vec<Cell>,
    ) -> Result<Vec<Vec<Cell>>, DatabaseError> {
        let statement = statement.to_owned();
        let selected = self
            .sql
            .query(QueryCost::Lookup, statement, parameters, usize::MAX);
        match selected.await {
            Err(error) if error.is_missing_table() => Ok(Vec::new()),
            selected => Ok(selected?.rows),
        }
    }

    /// Returns the SQL of this database.
    pub(crate) fn dialect(&self) -> &dyn Dialect {
        &*self.dialect
    }

    /// Numbers the parameters `?` of a statement that comes after `others` other parameters.
    pub(crate) fn replace_question_marks(&self, sql: &str, others: usize) -> String {
        replace_question_marks(sql, self.dialect.parameter_sign(), others)
    }

    /// Loads the rows with these keys.
    pub(super) async fn load_rows(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        // A statement with such a key fails, and no row has it.
        let is_storable =
            |key: &RowKey| !self.dialect.rejects_nul_character() || !key.has_nul_character();
        let keys: Vec<_> = keys.into_iter().filter(is_storable).collect();
        if keys.is_empty() {
            Ok(Vec::new())
        } else {
            let select = self.dialect.select_by_keys(table, keys);
            let rows = self.sql.read(select).await?;
            Ok(rows.into_iter().map(TableRow::from_cells).collect())
        }
    }
}
