//! The prefix of a text, which PostgreSQL indexes instead of the text.
//!
//! An entry of a B-tree in PostgreSQL has at most 2,704 bytes, and a text of a client can be longer. The
//! prefixes of texts have the order of the texts, so a condition on the prefix leaves few rows for the
//! exact comparison.

use super::{ColumnKind, Table, row_identity::COMPOSITE_KEY, sql_names::key_column};
#[cfg(feature = "postgres")]
use super::{RowKey, sql_names::quote_name};

/// The length of a prefix in characters. They have at most 2,400 bytes, so that a position or a hash fits
/// beside them.
const PREFIX: usize = 600;

/// Returns the prefix of a text.
pub(crate) fn text_prefix(text: &str) -> String {
    text.chars().take(PREFIX).collect()
}

/// Returns true if a text is shorter than a prefix. No other text has the same prefix.
pub(crate) fn is_shorter_than_prefix(text: &str) -> bool {
    text.chars().nth(PREFIX.saturating_sub(1)).is_none()
}

/// Returns true if one of the keys is as long as a prefix, so that other keys can have the same prefix.
#[cfg(feature = "postgres")]
pub(super) fn has_long_key(keys: &[RowKey]) -> bool {
    let is_long = |key: &RowKey| match key {
        RowKey::Integer(_) => false,
        key => !is_shorter_than_prefix(&key.to_text()),
    };
    keys.iter().any(is_long)
}

/// Returns the prefix of a column, which is given as SQL, as SQL for PostgreSQL.
#[cfg(feature = "postgres")]
pub(super) fn prefix_expression(column: &str) -> String {
    format!("left({column}, {PREFIX})")
}

/// Returns the expressions, as SQL for PostgreSQL, whose values tell all texts of a column apart: the prefix, and the
/// hash of the rest.
#[cfg(feature = "postgres")]
pub(super) fn unique_expressions(column: &str) -> String {
    let rest = PREFIX.saturating_add(1);
    let column = quote_name(column);
    // The conversion of a text to bytes that PostgreSQL accepts in an index. It reads backslashes as escapes.
    let bytes = format!(r"decode(replace(substr({column}, {rest}), E'\\', E'\\\\'), 'escape')");
    format!("{}, sha256({bytes})", prefix_expression(&column))
}

impl Table {
    /// Returns true if an index of the table contains the texts of this column, which can have any length.
    pub(super) fn has_text_index(&self, column: &str) -> bool {
        let mut columns = self.model.columns.iter();
        let is_text = columns.any(|one| one.name == column && one.kind == ColumnKind::Text);
        column == COMPOSITE_KEY
            || is_text && (key_column(self) == column || self.indexed.contains(column))
    }
}
