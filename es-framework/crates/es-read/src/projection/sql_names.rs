//! The names of tables and columns in SQL.

use super::{RowIdentity, Table};

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

/// Returns the name of the column that holds the text of a searched column in lower case.
pub(crate) fn quoted_lowercase_column(column: &str) -> String {
    quote_name(&format!("es_lower_{column}"))
}

/// Quotes a name for SQL.
pub(crate) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
