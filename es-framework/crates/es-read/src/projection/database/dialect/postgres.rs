//! The SQL of PostgreSQL.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use super::{
    super::{
        super::{
            Cell, RowKey, Table,
            search_index::like_pattern,
            table_statements::{self, POSITION_COLUMN},
            text_prefix::{self, has_long_key, text_prefix},
        },
        DatabaseError, Sql, rows,
    },
    Dialect,
    missing_search_index::create_missing_search_index,
};
use es_sql::{CellType, SqlDatabase, Statement};

const CREATE_EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
/// An extension belongs to one schema of its database, which the search path of this log may lack.
const HAS_TRIGRAMS: &str = "SELECT EXISTS (SELECT 1 FROM pg_opclass \
     WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))";
/// A swap waits for a long query, and all later queries would wait for the swap.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '5s'";

/// The SQL of PostgreSQL.
#[derive(Debug, Default)]
pub(super) struct PostgresDialect {
    /// True if the server has the extension for search indexes.
    has_trigrams: AtomicBool,
}

#[async_trait]
impl Dialect for PostgresDialect {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn hand_written(&self, sql: Sql) -> &'static str {
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

    fn select_size(&self) -> &'static str {
        "SELECT pg_database_size(current_database())"
    }

    fn create_checkpoints(&self) -> &'static str {
        "CREATE TABLE IF NOT EXISTS es_checkpoint \
         (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position BIGINT, hash TEXT)"
    }

    /// Creates the extension for search indexes if it is missing.
    async fn prepare(&self, database: &SqlDatabase) -> Result<(), DatabaseError> {
        let created = database
            .write(vec![Statement::plain(CREATE_EXTENSION)])
            .await;
        let found = database.read(Statement::plain(HAS_TRIGRAMS)).await?;
        let has_trigrams = found == [[Cell::Boolean(true)]];
        if !has_trigrams {
            let error = created.err().map(|error| error.to_string());
            tracing::warn!(
                error,
                "no schema of the search path has the extension pg_trgm, so text searches look at each row"
            );
        }
        self.has_trigrams.store(has_trigrams, Ordering::Relaxed);
        Ok(())
    }

    async fn complete_table(
        &self,
        database: &SqlDatabase,
        table: &Table,
    ) -> Result<(), DatabaseError> {
        if !self.has_trigrams.load(Ordering::Relaxed) {
            return Ok(());
        }
        create_missing_search_index(database, table).await
    }

    fn create_table(&self, table: &Table, _taken: &[String]) -> Vec<String> {
        let has_trigrams = self.has_trigrams.load(Ordering::Relaxed);
        table_statements::postgres_create_table_statements(table, has_trigrams)
    }

    fn drop_table(&self, table: &Table) -> Vec<String> {
        vec![table_statements::drop_table_statement(table)]
    }

    fn swap_tables(&self, table: &Table) -> Vec<String> {
        let mut statements = vec![LOCK_TIMEOUT.to_owned()];
        statements.extend(table_statements::postgres_swap_statements(table));
        statements
    }

    fn upsert(&self, table: &Table, rows: Vec<Vec<Cell>>) -> Statement {
        let upsert = table_statements::postgres_upsert_statement(table);
        Statement::for_arrays(upsert, rows::columns_of_rows(table, rows))
    }

    fn try_rows(&self, table: &Table, rows: Vec<Vec<Cell>>) -> Statement {
        let try_rows = table_statements::postgres_try_statement(table);
        Statement::for_arrays(try_rows, rows::columns_of_rows(table, rows))
    }

    fn delete(&self, table: &Table, keys: Vec<RowKey>) -> Statement {
        let name = table_statements::quote_name(&table.name());
        let condition = table_statements::postgres_key_condition(table, &keys);
        let delete = format!("DELETE FROM {name} WHERE {condition}");
        Statement::for_arrays(delete, arrays_of_keys(table, keys))
    }

    fn select_by_keys(&self, table: &Table, keys: Vec<RowKey>) -> Statement {
        let start = table_statements::select_from_clause(table);
        let condition = table_statements::postgres_key_condition(table, &keys);
        let select = format!("{start} WHERE {condition}");
        Statement::for_arrays(select, arrays_of_keys(table, keys))
    }
}

/// Returns the parameters of [`table_statements::postgres_key_condition`].
fn arrays_of_keys(table: &Table, keys: Vec<RowKey>) -> Vec<(CellType, Vec<Cell>)> {
    let key_column = table_statements::key_column(table);
    let has_prefixes = has_long_key(&keys) && table.has_text_index(key_column);
    // All keys of a table are of one kind.
    let cell_type = match keys.first() {
        Some(RowKey::Integer(_)) => CellType::Integer,
        _ => CellType::Text,
    };
    let cells: Vec<Cell> = keys.into_iter().map(Cell::from).collect();
    let prefix = |cell: &Cell| match cell {
        Cell::Text(text) => Cell::Text(text_prefix(text)),
        other => other.clone(),
    };
    let prefixes = has_prefixes.then(|| (CellType::Text, cells.iter().map(prefix).collect()));
    prefixes.into_iter().chain([(cell_type, cells)]).collect()
}
