//! The port to a database of read models. Each kind of database has one implementation.

use std::{collections::BTreeMap, fmt::Debug};

use async_trait::async_trait;

use super::{
    super::{
        Cell, RowKey, Table,
        row_changes::{RowChanges, TableRow},
        row_holds::LateFailure,
    },
    Checkpoint, DatabaseError, FetchedRows, QueryCost, Sql, TableCheckpoint,
    hold_table::HeldRow,
};

/// A database of read models.
#[async_trait]
pub(super) trait ReadModelStore: Debug + Send + Sync {
    /// Returns the name of the database product.
    fn kind(&self) -> &'static str;

    /// Returns the statement in the dialect of this database.
    fn dialect_statement(&self, sql: Sql) -> &'static str;

    /// Returns the SQL expression for the text of a JSON array with these elements.
    fn json_array_expression(&self, elements: &str) -> String;

    /// Returns the SQL expression for the JSON list of a column in each group of rows, in the order of the positions.
    /// `filter` is a `FILTER` clause, or empty.
    fn json_list_expression(&self, column: &str, filter: &str) -> String;

    /// Returns the sign that precedes the number of a parameter.
    fn parameter_sign(&self) -> char;

    /// Returns the prefix of a column as SQL, if an index contains the prefix instead of the text.
    fn indexed_prefix(&self, _table: &Table, _column: &str) -> Option<String> {
        None
    }

    /// Returns true if texts cannot contain the NUL character.
    fn rejects_nul_character(&self) -> bool;

    /// Returns the SQL expression for the value of a column in the row with the smallest position of each group. The
    /// statement also selects the smallest position. `has_extremes` tells that it selects another `min` or `max`.
    fn first_value_expression(&self, column: &str, has_extremes: bool) -> String;

    /// Returns the SQL conditions for a search column, which is given as SQL, that contains a substring in the form of
    /// the column. Each has a parameter, and all of them have to hold. SQLite has up to two: a lookup in the
    /// search index and the exact comparison.
    fn substring_conditions(
        &self,
        table: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)>;

    /// Returns the number of expensive statements that run at once.
    fn scan_limit(&self) -> u32;

    /// Removes what earlier rows left in the files, as far as the database can do that.
    async fn scrub(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Returns the size of the database in bytes.
    async fn size(&self) -> Result<u64, DatabaseError>;

    /// Returns the rows that a query selects, up to a size: the position and the columns of each.
    async fn fetch_rows(
        &self,
        cost: QueryCost,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<TableRow>, DatabaseError>;

    /// Returns the first column of the rows that a query selects, up to a size.
    async fn fetch_texts(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> Result<FetchedRows<String>, DatabaseError>;

    /// Returns the number that a query selects.
    async fn fetch_count(
        &self,
        cost: QueryCost,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError>;

    /// Acquires the right to write, unless another process has it, and creates the missing tables.
    async fn try_become_writer(
        &self,
        tables: &BTreeMap<&'static str, Table>,
    ) -> Result<bool, DatabaseError>;

    /// Loads the definition and the checkpoint of a table.
    async fn load_checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<TableCheckpoint>, DatabaseError>;

    /// Checks that a table exists with all that its declaration needs.
    async fn check_table(&self, table: &Table) -> Result<(), DatabaseError>;

    /// Replaces a table by an empty one without a checkpoint.
    async fn reset_table(&self, table: &Table) -> Result<(), DatabaseError>;

    /// Drops a table, if it exists, and deletes its checkpoint.
    async fn drop_table(&self, table: &Table) -> Result<(), DatabaseError>;

    /// Replaces a table by its shadow table.
    async fn swap_tables(&self, table: &Table) -> Result<(), DatabaseError>;

    /// Makes a read model skip the event at a position.
    async fn skip_event(&self, model: &'static str, position: i64) -> Result<(), DatabaseError>;

    /// Ends the skips of a read model from one position to another, both included.
    async fn end_skips(&self, model: &'static str, from: i64, to: i64)
    -> Result<(), DatabaseError>;

    /// Loads the positions of the events that a read model skips.
    async fn load_skipped_positions(&self, model: &'static str) -> Result<Vec<i64>, DatabaseError>;

    /// Loads the hash of the last erasure after which the rows of a read model were rebuilt.
    async fn load_last_erasure(&self, model: &'static str)
    -> Result<Option<String>, DatabaseError>;

    /// Records that hash.
    async fn record_erasure(&self, model: &'static str, hash: String) -> Result<(), DatabaseError>;

    /// Loads the keys that a table holds.
    async fn load_held_rows(&self, table: &Table) -> Result<Vec<HeldRow>, DatabaseError>;

    /// Loads the rows with these keys.
    async fn load_rows(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError>;

    /// Writes the changes of a table and its checkpoint in one transaction.
    async fn write_batch(
        &self,
        table: &Table,
        changes: RowChanges,
        to: Checkpoint,
    ) -> Result<(), DatabaseError>;

    /// Finds the rows of a batch that the database refuses, each at the first event at which it does. It makes each
    /// change in a savepoint, in the order of the events, and undoes them all.
    async fn find_refusals(
        &self,
        table: &Table,
        changes: RowChanges,
    ) -> Result<Vec<LateFailure>, DatabaseError>;

    /// Deletes the position of a table but not its rows. Does nothing where no test needs it.
    #[cfg(test)]
    async fn forget_position(&self, _table: &Table) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Limits the size of the database to a number of pages.
    #[cfg(test)]
    async fn limit_pages(&self, _pages: u32) -> Result<(), DatabaseError> {
        Ok(())
    }
}
