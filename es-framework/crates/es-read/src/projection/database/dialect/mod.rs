//! The differences between the engines of a database of read models. Each engine has one implementation.

#[cfg(feature = "postgres")]
mod missing_search_index;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;

use super::{
    super::{Cell, RowKey, Table},
    DatabaseError, Sql,
};
use es_sql::{Engine, SqlDatabase, Statement};

#[cfg(feature = "postgres")]
use self::postgres::PostgresDialect;
use self::sqlite::SqliteDialect;

/// The SQL of an engine.
#[async_trait]
pub(crate) trait Dialect: Debug + Send + Sync {
    /// Returns the name of the database product.
    fn name(&self) -> &'static str;

    /// Returns the statement in this dialect.
    fn hand_written(&self, sql: Sql) -> &'static str;

    /// Returns the SQL expression for the text of a JSON array with these elements.
    fn json_array_expression(&self, elements: &str) -> String;

    /// Returns the SQL expression for the JSON list of a column in each group of rows, in the order of the positions.
    /// `filter` is a `FILTER` clause, or empty.
    fn json_list_expression(&self, column: &str, filter: &str) -> String;

    /// Returns the SQL expression for the value of a column in the row with the smallest position of each group. The
    /// statement also selects the smallest position. `has_extremes` tells that it selects another `min` or `max`.
    fn first_value_expression(&self, column: &str, has_extremes: bool) -> String;

    /// Returns the sign that precedes the number of a parameter.
    fn parameter_sign(&self) -> char;

    /// Returns the prefix of a column as SQL, if an index contains the prefix instead of the text.
    fn indexed_prefix(&self, _table: &Table, _column: &str) -> Option<String> {
        None
    }

    /// Returns true if texts cannot contain the NUL character.
    fn rejects_nul_character(&self) -> bool {
        false
    }

    /// Returns the SQL conditions for a search column, which is given as SQL, that contains a substring in the form of
    /// the column. Each has a parameter, and all of them have to hold. SQLite has up to two: a lookup in the
    /// search index and the exact comparison.
    fn substring_conditions(
        &self,
        table: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)>;

    /// Returns the statement that selects the size of the database in bytes.
    fn select_size(&self) -> &'static str;

    /// Returns the statement that creates the table of the checkpoints.
    fn create_checkpoints(&self) -> &'static str;

    /// Prepares the database for the tables.
    async fn prepare(&self, _database: &SqlDatabase) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Adds what a table that was created earlier lacks.
    async fn complete_table(
        &self,
        _database: &SqlDatabase,
        _table: &Table,
    ) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Returns the statement that selects the names which another table may have given to its indexes.
    fn select_index_names(&self, _table: &Table) -> Option<Statement> {
        None
    }

    /// Returns the statements that create a table. Its indexes get none of the names that are taken.
    fn create_table(&self, table: &Table, taken: &[String]) -> Vec<String>;

    /// Returns the statements that drop a table.
    fn drop_table(&self, table: &Table) -> Vec<String>;

    /// Returns the statements that replace a table by its shadow table.
    fn swap_tables(&self, table: &Table) -> Vec<String>;

    /// Returns the statements that fail if the search index of a table is missing.
    fn check_search_index(&self, _table: &Table) -> Vec<Statement> {
        Vec::new()
    }

    /// Returns the statement that writes rows, given all cells of each. Without rows, it only checks the table.
    fn upsert(&self, table: &Table, rows: Vec<Vec<Cell>>) -> Statement;

    /// Returns the statement that tries rows, given all cells of each, in a savepoint that is undone. Several of them may
    /// have the same key.
    fn try_rows(&self, table: &Table, rows: Vec<Vec<Cell>>) -> Statement {
        self.upsert(table, rows)
    }

    /// Returns the statement that deletes the rows with these keys.
    fn delete(&self, table: &Table, keys: Vec<RowKey>) -> Statement;

    /// Returns the statement that selects the position and the columns of the rows with these keys.
    fn select_by_keys(&self, table: &Table, keys: Vec<RowKey>) -> Statement;

    /// Returns true if the framework writes the search index of a table. Otherwise the engine does.
    fn writes_search_index(&self, _table: &Table) -> bool {
        false
    }
}

/// Returns the dialect of an engine.
pub(super) fn dialect_of(engine: Engine) -> Arc<dyn Dialect> {
    match engine {
        #[cfg(feature = "postgres")]
        Engine::Postgres => Arc::new(PostgresDialect::default()),
        _ => Arc::new(SqliteDialect),
    }
}
