//! The hashes that tell whether a table was created from the current declaration of its read model, and after which erasure.

use sha2::{Digest as _, Sha256};

use super::{Table, database::written_columns, table_statements::sqlite_create_table_statements};

/// Returns the definition of a table that is created now: the hash of its declaration and, behind a dot, that of the last
/// announced erasure of personal data, if its rows depend on erasures.
pub(super) fn new_definition(table: &Table) -> String {
    let declaration = definition_hash(table);
    match table.erasure {
        Some(erasure) => format!("{declaration}.{erasure}"),
        None => declaration,
    }
}

/// Returns a hash of all that the rows of a table depend on. Another hash means that the table has to be
/// rebuilt. The part before the dot is the layout.
pub(super) fn definition_hash(table: &Table) -> String {
    let serving = Table {
        is_shadow: false,
        ..table.clone()
    };
    // Older releases refuse rows with long texts in PostgreSQL.
    let mut columns = table.model.columns.iter();
    let prefixes = if columns.any(|column| table.has_text_index(column.name)) {
        " prefixes"
    } else {
        ""
    };
    let text = format!(
        "{:?} {:?} {}{prefixes}",
        sqlite_create_table_statements(&serving, 1),
        table.model.events,
        table.model.version
    );
    format!("{}.{}", layout_hash(table), short_hash(&text))
}

/// Returns the hash of the parts of a definition that the statements of queries depend on.
pub(super) fn layout_hash(table: &Table) -> String {
    // Queries of searched columns need the search index.
    let search_index = if table.searched.is_empty() {
        String::new()
    } else {
        format!(" fts5 trigram {:?}", table.searched)
    };
    short_hash(&format!(
        "{:?} {:?}{search_index}",
        written_columns(table),
        table.model.identity
    ))
}

fn short_hash(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    es_event::hex(hash.iter().take(16))
}
