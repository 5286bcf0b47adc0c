//! The SQL of SQLite.

use super::{
    super::{
        super::{
            Cell, RowKey, Table,
            search_index::{quoted_fts_table_name, trigram_query},
            table_statements::{self, POSITION_COLUMN},
        },
        Sql,
        rows::name_of,
    },
    Dialect,
};
use es_sql::Statement;

/// The SQL of SQLite.
#[derive(Debug)]
pub(super) struct SqliteDialect;

impl Dialect for SqliteDialect {
    fn name(&self) -> &'static str {
        "SQLite"
    }

    fn hand_written(&self, sql: Sql) -> &'static str {
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
        let is_contained = format!("instr({column}, ?) > 0");
        let exact = (is_contained, Cell::Text(substring.to_owned()));
        candidates.into_iter().chain([exact]).collect()
    }

    fn select_size(&self) -> &'static str {
        "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    }

    fn create_checkpoints(&self) -> &'static str {
        "CREATE TABLE IF NOT EXISTS es_checkpoint \
         (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position INTEGER, hash TEXT) STRICT"
    }

    fn select_index_names(&self, table: &Table) -> Option<Statement> {
        let select = "SELECT name FROM sqlite_schema WHERE tbl_name <> $1";
        Some(Statement::new(select, [name_of(table)]))
    }

    fn create_table(&self, table: &Table, taken: &[String]) -> Vec<String> {
        let is_free = |number: &u32| {
            let names = table_statements::index_names(table, *number);
            !names.iter().any(|name| taken.contains(name))
        };
        let number = (1..).find(is_free).unwrap_or(1);
        table_statements::sqlite_create_table_statements(table, number)
    }

    fn drop_table(&self, table: &Table) -> Vec<String> {
        vec![
            table_statements::drop_table_statement(table),
            table_statements::drop_search_index_statement(table),
        ]
    }

    fn swap_tables(&self, table: &Table) -> Vec<String> {
        table_statements::sqlite_swap_statements(table)
    }

    fn check_search_index(&self, table: &Table) -> Vec<Statement> {
        let fts = quoted_fts_table_name(table);
        let select = format!("SELECT rowid FROM {fts}");
        let is_searched = !table.searched.is_empty();
        let check = is_searched.then(|| Statement::for_rows(select, Vec::new()));
        check.into_iter().collect()
    }

    fn upsert(&self, table: &Table, rows: Vec<Vec<Cell>>) -> Statement {
        Statement::for_rows(table_statements::sqlite_upsert_statement(table), rows)
    }

    fn delete(&self, table: &Table, keys: Vec<RowKey>) -> Statement {
        Statement::for_rows(
            table_statements::delete_statement(table),
            rows_of_keys(keys),
        )
    }

    fn select_by_keys(&self, table: &Table, keys: Vec<RowKey>) -> Statement {
        let key = table_statements::quote_name(table_statements::key_column(table));
        let select = table_statements::select_from_clause(table);
        Statement::for_rows(format!("{select} WHERE {key} = ?"), rows_of_keys(keys))
    }

    fn writes_search_index(&self, table: &Table) -> bool {
        !table.searched.is_empty()
    }
}

fn rows_of_keys(keys: Vec<RowKey>) -> Vec<Vec<Cell>> {
    keys.into_iter().map(|key| vec![key.into()]).collect()
}
