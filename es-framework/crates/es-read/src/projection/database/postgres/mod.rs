//! PostgreSQL: one connection writes batches and holds the lock that grants the right to write. A pool
//! of connections reads.

mod cells;
mod changes;
mod connections;
mod missing_search_index;
mod reader_pool;
mod write;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, PgConnection, Row as _, postgres::PgRow};

use self::{
    cells::{bind, decode_row},
    changes::find_refusals,
    connections::{Connections, with_write_timeout},
    missing_search_index::create_missing_search_index,
    write::{
        check_table, drop_table, end_skips, load_held_rows, load_rows, load_skipped_positions,
        read_checkpoint, reset_table, skip_event, swap_tables, write_batch,
    },
};
use super::{
    super::{
        Cell, RowKey, Table,
        row_changes::{RowChanges, TableRow},
        row_holds::LateFailure,
        search_index::like_pattern,
        table_statements::{self, POSITION_COLUMN},
        text_prefix,
    },
    Checkpoint, DatabaseError, FetchedRows, QueryCost, RowSize, Sql, TableCheckpoint,
    erasure_marks,
    hold_table::{CREATE_HELD, HeldRow},
    store::ReadModelStore,
};

/// The error code of a statement that names a table which does not exist.
const UNDEFINED_TABLE: &str = "42P01";
const CREATE_EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
/// An extension belongs to one schema of its database, which the search path of this log may lack.
const HAS_TRIGRAMS: &str = "SELECT EXISTS (SELECT 1 FROM pg_opclass \
     WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))";

const CREATE_CHECKPOINTS: &str = "CREATE TABLE IF NOT EXISTS es_checkpoint \
     (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position BIGINT, hash TEXT)";

/// The read models in a PostgreSQL database.
#[derive(Debug)]
pub(super) struct PostgresReadModelStore {
    connections: Connections,
    /// True if the server has the extension for search indexes.
    has_trigrams: AtomicBool,
}

impl PostgresReadModelStore {
    /// Connects to the server that accepts writes. It ends each query that runs longer than `query_time`.
    pub(super) async fn open(url: &str, query_time: Duration) -> Result<Self, DatabaseError> {
        Ok(Self {
            connections: Connections::open(url, query_time).await?,
            has_trigrams: AtomicBool::new(false),
        })
    }

    /// Adds the rows that a query selects to `fetched`, up to its limit. The rest of the rows is not read into
    /// memory: the connection discards it.
    async fn fetch_decoded<T: RowSize>(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
        decode: impl Fn(&PgRow) -> Result<T, DatabaseError>,
    ) -> Result<FetchedRows<T>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let readers = self.connections.readers(cost);
        let mut rows = query.fetch(&readers);
        let mut fetched = FetchedRows::new(most_bytes);
        loop {
            match rows.try_next().await {
                Ok(Some(row)) if fetched.push(decode(&row)?) => {}
                Ok(_) => return Ok(fetched),
                Err(error) => return Err(self.connections.diagnose_reader_error(error).await),
            }
        }
    }

    async fn prepare_tables(
        &self,
        tables: &BTreeMap<&'static str, Table>,
    ) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        let connection = &mut *connection;
        let statements = [
            CREATE_CHECKPOINTS,
            table_statements::CREATE_SKIPPED,
            CREATE_HELD,
        ];
        for statement in statements {
            with_write_timeout(execute(connection, statement)).await?;
        }
        let has_trigrams = with_write_timeout(prepare_trigrams(connection)).await?;
        self.has_trigrams.store(has_trigrams, Ordering::Relaxed);
        for table in tables.values() {
            let stored = with_write_timeout(read_checkpoint(connection, table)).await?;
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
                with_write_timeout(reset_table(connection, table, has_trigrams)).await?;
            }
        }
        Ok(())
    }
}

/// Returns the default if a table of the framework does not exist yet.
fn if_table_exists<T: Default>(result: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
    match result {
        Err(DatabaseError::Postgres(sqlx::Error::Database(error)))
            if error.code().as_deref() == Some(UNDEFINED_TABLE) =>
        {
            Ok(T::default())
        }
        result => result,
    }
}

async fn execute(
    connection: &mut PgConnection,
    statement: &'static str,
) -> Result<(), DatabaseError> {
    sqlx::query(statement).execute(connection).await?;
    Ok(())
}

/// Creates the extension for search indexes if it is missing. Returns true if this log can use it.
async fn prepare_trigrams(connection: &mut PgConnection) -> Result<bool, DatabaseError> {
    let created = execute(&mut *connection, CREATE_EXTENSION).await;
    let has_trigrams: bool = sqlx::query_scalar(HAS_TRIGRAMS)
        .fetch_one(connection)
        .await?;
    if !has_trigrams {
        let error = created.err().map(|error| error.to_string());
        tracing::warn!(
            error,
            "no schema of the search path has the extension pg_trgm, so text searches look at each row"
        );
    }
    Ok(has_trigrams)
}

#[async_trait]
impl ReadModelStore for PostgresReadModelStore {
    fn kind(&self) -> &'static str {
        "PostgreSQL"
    }

    fn dialect_statement(&self, sql: Sql) -> &'static str {
        sql.postgres
    }

    fn json_array_expression(&self, elements: &str) -> String {
        format!("json_build_array({elements})::text")
    }

    fn json_list_expression(&self, column: &str, filter: &str) -> String {
        format!("coalesce(json_agg({column} ORDER BY {POSITION_COLUMN}){filter}, '[]')")
    }

    fn first_value_expression(&self, column: &str, _has_extremes: bool) -> String {
        format!("(array_agg({column} ORDER BY {POSITION_COLUMN}))[1]")
    }

    fn parameter_sign(&self) -> char {
        '$'
    }

    fn indexed_prefix(&self, table: &Table, column: &str) -> Option<String> {
        let is_indexed = table.has_text_index(column);
        is_indexed.then(|| text_prefix::prefix_expression(&table.compared_column(column)))
    }

    fn rejects_nul_character(&self) -> bool {
        true
    }

    fn substring_conditions(
        &self,
        _: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)> {
        let pattern = like_pattern(substring);
        // The planner uses the search index for this condition if that helps.
        vec![(format!("{column} LIKE ?"), Cell::Text(pattern))]
    }

    fn scan_limit(&self) -> u32 {
        reader_pool::SCANS
    }

    async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT pg_database_size(current_database())";
        self.fetch_count(QueryCost::Lookup, size.to_owned(), Vec::new())
            .await
    }

    async fn fetch_rows(
        &self,
        cost: QueryCost,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<TableRow>, DatabaseError> {
        let columns = table.model.columns;
        let decode = |row: &PgRow| decode_row(columns, row);
        self.fetch_decoded(cost, statement, parameters, most_bytes, decode)
            .await
    }

    async fn fetch_texts(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<String>, DatabaseError> {
        let decode = |row: &PgRow| Ok(row.try_get(0)?);
        self.fetch_decoded(cost, statement, parameters, most_bytes, decode)
            .await
    }

    async fn fetch_count(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        match query.fetch_one(&self.connections.readers(cost)).await {
            Ok(row) => Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or_default()),
            Err(error) => Err(self.connections.diagnose_reader_error(error).await),
        }
    }

    async fn try_become_writer(
        &self,
        tables: &BTreeMap<&'static str, Table>,
    ) -> Result<bool, DatabaseError> {
        let is_acquired = self.connections.try_acquire_lock().await?;
        if is_acquired && let Err(error) = self.prepare_tables(tables).await {
            // The lock may be the one of a server that accepts no writes any more.
            self.connections.close_writer().await;
            return Err(error);
        }
        Ok(is_acquired)
    }

    async fn load_checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<TableCheckpoint>, DatabaseError> {
        let load = async {
            let mut connection = self
                .connections
                .readers(QueryCost::Lookup)
                .acquire()
                .await?;
            read_checkpoint(&mut connection, table).await
        };
        // The database is empty before the first process writes.
        if_table_exists(with_write_timeout(load).await)
    }

    async fn check_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        with_write_timeout(check_table(&mut connection, table)).await
    }

    async fn reset_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let has_trigrams = self.has_trigrams.load(Ordering::Relaxed);
        let mut connection = self.connections.writer().await?;
        with_write_timeout(reset_table(&mut connection, table, has_trigrams)).await
    }

    async fn drop_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        with_write_timeout(drop_table(&mut connection, table)).await
    }

    async fn swap_tables(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        with_write_timeout(swap_tables(&mut connection, table)).await
    }

    async fn skip_event(&self, model: &'static str, position: i64) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        with_write_timeout(skip_event(&mut connection, model, position)).await
    }

    async fn end_skips(
        &self,
        model: &'static str,
        from: i64,
        to: i64,
    ) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        with_write_timeout(end_skips(&mut connection, model, from, to)).await
    }

    async fn load_skipped_positions(&self, model: &'static str) -> Result<Vec<i64>, DatabaseError> {
        let readers = self.connections.readers(QueryCost::Lookup);
        with_write_timeout(load_skipped_positions(&readers, model)).await
    }

    async fn load_last_erasure(
        &self,
        model: &'static str,
    ) -> Result<Option<String>, DatabaseError> {
        let readers = self.connections.readers(QueryCost::Lookup);
        let hash = sqlx::query_scalar(erasure_marks::LOAD).bind(model);
        if_table_exists(hash.fetch_optional(&readers).await.map_err(Into::into))
    }

    async fn record_erasure(&self, model: &'static str, hash: String) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        execute(&mut connection, erasure_marks::CREATE).await?;
        let record = sqlx::query(erasure_marks::RECORD).bind(model).bind(hash);
        record.execute(&mut *connection).await?;
        Ok(())
    }

    async fn load_held_rows(&self, table: &Table) -> Result<Vec<HeldRow>, DatabaseError> {
        let readers = self.connections.readers(QueryCost::Lookup);
        // The process that writes may be an older release.
        if_table_exists(with_write_timeout(load_held_rows(&readers, table)).await)
    }

    async fn load_rows(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        let mut connection = self.connections.writer().await?;
        with_write_timeout(load_rows(&mut connection, table, keys)).await
    }

    async fn write_batch(
        &self,
        table: &Table,
        changes: RowChanges,
        to: Checkpoint,
    ) -> Result<(), DatabaseError> {
        let mut connection = self.connections.writer().await?;
        let result = with_write_timeout(write_batch(&mut connection, table, changes, to)).await;
        drop(connection);
        self.connections.close_ended_session(result).await
    }

    async fn find_refusals(
        &self,
        table: &Table,
        changes: RowChanges,
    ) -> Result<Vec<LateFailure>, DatabaseError> {
        let mut connection = self.connections.writer().await?;
        let result = find_refusals(&mut connection, table, changes).await;
        drop(connection);
        self.connections.close_ended_session(result).await
    }
}
