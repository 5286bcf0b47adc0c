//! The columns that conditions on a field use: its own one, and the one that stores the form for searches.

use super::{Cell, SearchForm, Table, sql_names};

impl Table {
    /// Returns the column, as SQL, that comparisons, sort orders and groups of a field use.
    pub(crate) fn compared_column(&self, column: &str) -> String {
        match self.searched.get(column) {
            Some(form @ SearchForm::Alphanumeric) => sql_names::quoted_search_column(column, *form),
            _ => sql_names::quote_name(column),
        }
    }

    /// Converts a value of a field to a value of its compared column.
    pub(crate) fn compared_cell(&self, column: &str, cell: Cell) -> Cell {
        match (self.searched.get(column), cell) {
            (Some(form @ SearchForm::Alphanumeric), Cell::Text(text)) => {
                Cell::Text(form.convert(&text))
            }
            (_, cell) => cell,
        }
    }

    /// Returns the column, as SQL, that searches in a field use, and a substring in the form of that column, or `None`
    /// instead of the substring if no value contains it. Returns `None` if the table is not prepared for searches in the
    /// field.
    pub(crate) fn search_column(
        &self,
        column: &str,
        substring: &str,
    ) -> Option<(String, Option<String>)> {
        let form = *self.searched.get(column)?;
        let name = sql_names::quoted_search_column(column, form);
        Some((name, form.convert_substring(substring)))
    }
}
