//! SQLite, in memory or in a file: one connection writes, and a small pool reads.

mod blocking;
mod cells;
mod readers;
mod search_index_update;
mod sqlite_connection;
mod write;
mod write_connection;

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, params_from_iter};

use self::{
    cells::decode_row,
    readers::SqliteReaders,
    write::{
        check_table, drop_table, find_refusals, load_held_rows, prepare_tables, read_checkpoint,
        reset_table, swap_tables, try_rows, write_checkpoint, write_rows,
    },
    write_connection::SqliteWriter,
};
use super::{
    super::{
        Cell, RowKey, Table,
        row_changes::{RowChanges, TableRow},
        row_holds::LateFailure,
        search_index::{quoted_fts_table_name, trigram_query},
        table_statements::{self, POSITION_COLUMN},
    },
    Checkpoint, DatabaseError, FetchedRows, QueryCost, Sql, TableCheckpoint, erasure_marks,
    hold_table::HeldRow,
    store::ReadModelStore,
};

pub(super) use sqlite_connection::SqliteLocation;
use sqlite_connection::truncate_log;

const SIZE: &str = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";

/// The read models in a SQLite database.
#[derive(Debug)]
pub(super) struct SqliteReadModelStore {
    readers: SqliteReaders,
    writer: SqliteWriter,
}

impl SqliteReadModelStore {
    /// Opens the database, and interrupts each query that runs longer than `query_time`.
    pub(super) async fn open(
        location: SqliteLocation,
        query_time: Duration,
    ) -> Result<Self, DatabaseError> {
        Ok(Self {
            writer: SqliteWriter::open(location.clone()).await?,
            readers: SqliteReaders::new(location, query_time),
        })
    }
}

#[async_trait]
impl ReadModelStore for SqliteReadModelStore {
    fn kind(&self) -> &'static str {
        "SQLite"
    }

    fn dialect_statement(&self, sql: Sql) -> &'static str {
        sql.sqlite
    }

    fn json_array_expression(&self, elements: &str) -> String {
        format!("json_array({elements})")
    }

    fn json_list_expression(&self, column: &str, filter: &str) -> String {
        format!("json_group_array({column} ORDER BY {POSITION_COLUMN}){filter}")
    }

    fn first_value_expression(&self, column: &str, has_extremes: bool) -> String {
        if has_extremes {
            return format!("json_group_array({column} ORDER BY {POSITION_COLUMN}) -> 0");
        }
        // A bare column has the value of the row that the only `min` of a statement selects. This is the `min` of
        // the positions.
        column.to_owned()
    }

    fn parameter_sign(&self) -> char {
        '?'
    }

    fn rejects_nul_character(&self) -> bool {
        false
    }

    fn substring_conditions(
        &self,
        table: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)> {
        let candidates = trigram_query(substring).map(|trigrams| {
            let fts = quoted_fts_table_name(table);
            let condition =
                format!("{POSITION_COLUMN} IN (SELECT rowid FROM {fts} WHERE {fts} MATCH ?)");
            (condition, Cell::Text(trigrams))
        });
        let exact = format!("instr({column}, ?) > 0");
        let exact = (exact, Cell::Text(substring.to_owned()));
        candidates.into_iter().chain([exact]).collect()
    }

    fn scan_limit(&self) -> u32 {
        readers::SCANS
    }

    async fn scrub(&self) -> Result<(), DatabaseError> {
        let truncate = |connection: &mut rusqlite::Connection| truncate_log(connection);
        self.writer.run_statements(truncate).await
    }

    async fn size(&self) -> Result<u64, DatabaseError> {
        let size = self.fetch_count(QueryCost::Lookup, SIZE.to_owned(), Vec::new());
        size.await
    }

    async fn fetch_rows(
        &self,
        cost: QueryCost,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<TableRow>, DatabaseError> {
        let columns = table.model.columns.len();
        let query = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached(&statement)?;
            let mut rows = statement.query(params_from_iter(parameters))?;
            let mut fetched = FetchedRows::new(most_bytes);
            while let Some(row) = rows.next()?
                && fetched.push(decode_row(row, columns)?)
            {}
            Ok(fetched)
        };
        self.readers.run_query(cost, query).await
    }

    async fn fetch_texts(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<String>, DatabaseError> {
        let query = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached(&statement)?;
            let mut rows = statement.query(params_from_iter(parameters))?;
            let mut fetched = FetchedRows::new(most_bytes);
            while let Some(row) = rows.next()?
                && fetched.push(row.get(0)?)
            {}
            Ok(fetched)
        };
        self.readers.run_query(cost, query).await
    }

    async fn fetch_count(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached(&statement)?;
            statement.query_row(params_from_iter(parameters), |row| row.get::<_, i64>(0))
        };
        let count = self.readers.run_query(cost, query).await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    async fn try_become_writer(
        &self,
        tables: &BTreeMap<&'static str, Table>,
    ) -> Result<bool, DatabaseError> {
        let is_acquired = self.writer.try_acquire_lease().await?;
        if is_acquired {
            let tables: Vec<_> = tables.values().cloned().collect();
            let prepare =
                move |transaction: &rusqlite::Connection| prepare_tables(transaction, &tables);
            self.writer.run_transaction(prepare).await?;
        }
        Ok(is_acquired)
    }

    async fn load_checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<TableCheckpoint>, DatabaseError> {
        let table = table.clone();
        let load = move |connection: &mut rusqlite::Connection| {
            // A new database has no table of checkpoints yet.
            connection.execute_batch(table_statements::CREATE_CHECKPOINTS)?;
            read_checkpoint(connection, &table)
        };
        self.writer.run_statements(load).await
    }

    async fn check_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let table = table.clone();
        let check = move |connection: &mut rusqlite::Connection| check_table(connection, &table);
        self.writer.run_statements(check).await
    }

    async fn reset_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let table = table.clone();
        let reset = move |transaction: &rusqlite::Connection| reset_table(transaction, &table);
        self.writer.run_transaction(reset).await
    }

    async fn drop_table(&self, table: &Table) -> Result<(), DatabaseError> {
        let table = table.clone();
        let drop = move |transaction: &rusqlite::Connection| drop_table(transaction, &table);
        self.writer.run_transaction(drop).await
    }

    async fn swap_tables(&self, table: &Table) -> Result<(), DatabaseError> {
        let table = table.clone();
        let swap = move |transaction: &rusqlite::Connection| swap_tables(transaction, &table);
        self.writer.run_transaction(swap).await
    }

    async fn skip_event(&self, model: &'static str, position: i64) -> Result<(), DatabaseError> {
        let skip = move |transaction: &rusqlite::Connection| {
            transaction.execute(table_statements::SKIP, (model, position))?;
            Ok(())
        };
        self.writer.run_transaction(skip).await
    }

    async fn end_skips(
        &self,
        model: &'static str,
        from: i64,
        to: i64,
    ) -> Result<(), DatabaseError> {
        let end = move |transaction: &rusqlite::Connection| {
            transaction.execute(table_statements::END_SKIPS, (model, from, to))?;
            Ok(())
        };
        self.writer.run_transaction(end).await
    }

    async fn load_skipped_positions(&self, model: &'static str) -> Result<Vec<i64>, DatabaseError> {
        let load = move |connection: &mut rusqlite::Connection| {
            let mut statement = connection.prepare(table_statements::SKIPPED)?;
            let positions = statement.query_map([model], |row| row.get(0))?;
            positions.collect()
        };
        self.writer.run_statements(load).await
    }

    async fn load_last_erasure(
        &self,
        model: &'static str,
    ) -> Result<Option<String>, DatabaseError> {
        let load = move |connection: &mut rusqlite::Connection| {
            connection.execute_batch(erasure_marks::CREATE)?;
            let hash = connection.query_row(erasure_marks::LOAD, [model], |row| row.get(0));
            hash.optional()
        };
        self.writer.run_statements(load).await
    }

    async fn record_erasure(&self, model: &'static str, hash: String) -> Result<(), DatabaseError> {
        let record = move |transaction: &rusqlite::Connection| {
            transaction.execute_batch(erasure_marks::CREATE)?;
            transaction.execute(erasure_marks::RECORD, (model, hash))?;
            Ok(())
        };
        self.writer.run_transaction(record).await
    }

    async fn load_held_rows(&self, table: &Table) -> Result<Vec<HeldRow>, DatabaseError> {
        let table = table.clone();
        let load = move |connection: &mut rusqlite::Connection| load_held_rows(connection, &table);
        self.writer.run_statements(load).await
    }

    async fn load_rows(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        let columns = table.model.columns.len();
        let key = table_statements::quote_name(table_statements::key_column(table));
        let statement = format!(
            "{} WHERE {key} = ?",
            table_statements::select_from_clause(table)
        );
        let load = move |connection: &mut rusqlite::Connection| {
            let mut statement = connection.prepare_cached(&statement)?;
            let mut rows = Vec::with_capacity(keys.len());
            for key in keys {
                let row = statement
                    .query_row([Cell::from(key)], |row| decode_row(row, columns))
                    .optional()?;
                rows.extend(row);
            }
            Ok(rows)
        };
        self.writer.run_statements(load).await
    }

    async fn write_batch(
        &self,
        table: &Table,
        mut changes: RowChanges,
        to: Checkpoint,
    ) -> Result<(), DatabaseError> {
        let table = table.clone();
        let write = move |connection: &mut rusqlite::Connection| {
            let mut transaction = connection.transaction()?;
            try_rows(
                &mut transaction,
                &table,
                std::mem::take(&mut changes.replaced),
            )?;
            write_rows(&transaction, &table, changes)?;
            write_checkpoint(&transaction, &table, Some(to))?;
            transaction.commit()
        };
        self.writer.run_statements(write).await
    }

    async fn find_refusals(
        &self,
        table: &Table,
        changes: RowChanges,
    ) -> Result<Vec<LateFailure>, DatabaseError> {
        let table = table.clone();
        let find =
            move |connection: &mut rusqlite::Connection| find_refusals(connection, &table, changes);
        self.writer.run_statements(find).await
    }

    #[cfg(test)]
    async fn forget_position(&self, table: &Table) -> Result<(), DatabaseError> {
        let table = table.clone();
        let forget =
            move |transaction: &rusqlite::Connection| write_checkpoint(transaction, &table, None);
        self.writer.run_transaction(forget).await
    }

    #[cfg(test)]
    async fn limit_pages(&self, pages: u32) -> Result<(), DatabaseError> {
        let limit = move |connection: &mut rusqlite::Connection| {
            connection.pragma_update(None, "max_page_count", pages)
        };
        self.writer.run_statements(limit).await
    }
}
