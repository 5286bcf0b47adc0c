//! The names of tables and columns in SQL.

use super::{RowIdentity, SearchForm, Table};

/// The column with the position of a row in the order of the events.
pub(crate) const POSITION_COLUMN: &str = "es_place";
/// The column with the subject of a row that is an event.
pub(super) const SUBJECT: &str = "es_subject";

/// Returns the column of a row's key.
pub(crate) fn key_column(table: &Table) -> &'static str {
    match table.model.identity {
        RowIdentity::Event => SUBJECT,
        RowIdentity::Column(name) => name,
    }
}

/// Returns the column, as SQL, whose values a written row must not repeat.
pub(super) fn quoted_unique_column(table: &Table) -> String {
    match table.model.identity {
        RowIdentity::Event => POSITION_COLUMN.to_owned(),
        RowIdentity::Column(name) => quote_name(name),
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
