//! The names of tables and columns in SQL.

use super::{RowIdentity, SearchForm, Table};

/// The column with the position of a row in the order of the events.
pub(crate) const POSITION_COLUMN: &str = "es_place";

/// Returns the column of a row's key.
pub(crate) const fn key_column(table: &Table) -> &'static str {
    table.model.identity.key_column()
}

/// Returns the column, as SQL, whose values a written row must not repeat.
pub(super) fn quoted_unique_column(table: &Table) -> String {
    match table.model.identity {
        RowIdentity::Event => POSITION_COLUMN.to_owned(),
        identity => quote_name(identity.key_column()),
    }
}

/// Returns the column, as SQL, that holds the form of a text which searches compare.
pub(super) fn quoted_search_column(column: &str, form: SearchForm) -> String {
    quote_name(&format!("{}{column}", form.prefix()))
}

/// Quotes a name for SQL.
pub(crate) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
