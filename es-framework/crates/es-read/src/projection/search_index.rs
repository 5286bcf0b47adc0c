//! The text search: the trigram index of SQLite, the patterns of PostgreSQL, and the SQL of both.

use std::collections::BTreeSet;

use super::{
    Table,
    sql_names::{POSITION_COLUMN, quote_name, quoted_search_column, quoted_unique_column},
};

/// The length of an index entry in characters. The index cannot find a shorter substring.
const TRIGRAM: usize = 3;
/// The largest number of trigrams that are looked up for one substring. A few lookups already leave only
/// few rows, and the exact comparison checks those. More lookups would only take time.
const MAX_TRIGRAMS: usize = 8;

/// Returns the name of the FTS5 table that indexes the searched columns of a table in SQLite.
pub(super) fn quoted_fts_table_name(table: &Table) -> String {
    quote_name(&format!("es_search_{}", table.name()))
}

fn searched_columns(table: &Table) -> Vec<String> {
    let columns = table.searched.iter();
    columns
        .map(|(column, form)| quoted_search_column(column, *form))
        .collect()
}

/// Returns the statement that creates the FTS5 table of a table with searched columns.
///
/// It stores neither the texts nor the positions in them: the index of a million titles then takes 68
/// instead of 234 MB.
pub(super) fn create_fts_table_statement(table: &Table) -> Option<String> {
    let columns = searched_columns(table);
    (!columns.is_empty()).then(|| {
        format!(
            "CREATE VIRTUAL TABLE {} USING fts5({}, content='', contentless_delete=1, detail=none, \
             tokenize='trigram case_sensitive 1')",
            quoted_fts_table_name(table),
            columns.join(", ")
        )
    })
}

/// Returns the statement that adds an entry to the FTS5 table: the position of the row and its searched
/// texts.
pub(super) fn insert_entry_statement(table: &Table) -> String {
    let columns = searched_columns(table);
    let parameters = ", ?".repeat(columns.len());
    format!(
        "INSERT INTO {} (rowid, {}) VALUES (?{parameters})",
        quoted_fts_table_name(table),
        columns.join(", ")
    )
}

/// Returns the statement that deletes the entry of a position from the FTS5 table.
pub(super) fn delete_entry_statement(table: &Table) -> String {
    format!(
        "DELETE FROM {} WHERE rowid = ?",
        quoted_fts_table_name(table)
    )
}

/// Returns the statement that selects the key, the position and the searched texts of the row that a written row
/// would replace.
pub(super) fn select_texts_statement(table: &Table) -> String {
    let key = quoted_unique_column(table);
    format!(
        "SELECT {key}, {POSITION_COLUMN}, {} FROM {} WHERE {key} = ?",
        searched_columns(table).join(", "),
        quote_name(&table.name()),
    )
}

/// Returns the statement that creates the index of PostgreSQL's extension `pg_trgm`.
#[cfg(feature = "postgres")]
pub(super) fn create_gin_index_statement(table: &Table) -> Option<String> {
    let columns: Vec<_> = searched_columns(table)
        .iter()
        .map(|column| format!("{column} gin_trgm_ops"))
        .collect();
    (!columns.is_empty()).then(|| {
        let rows = quote_name(&table.name());
        format!("CREATE INDEX ON {rows} USING gin ({})", columns.join(", "))
    })
}

/// Returns the FTS5 query for the rows that may contain a substring, which has the form of the indexed texts.
/// Returns `None` if the substring has no trigram.
pub(super) fn trigram_query(substring: &str) -> Option<String> {
    let characters: Vec<char> = substring.chars().collect();
    // The tokenizer leaves out this character.
    let is_indexed = |trigram: &&[char]| !trigram.contains(&'\0');
    let trigrams: Vec<_> = characters.windows(TRIGRAM).filter(is_indexed).collect();
    let step = trigrams.len().div_ceil(MAX_TRIGRAMS).max(1);
    let distinct: BTreeSet<_> = trigrams
        .into_iter()
        .step_by(step)
        .map(|trigram| {
            let trigram: String = trigram.iter().collect();
            format!("\"{}\"", trigram.replace('"', "\"\""))
        })
        .collect();
    let phrases: Vec<_> = distinct.into_iter().collect();
    (!phrases.is_empty()).then(|| phrases.join(" AND "))
}

/// Returns the pattern of LIKE that matches each text which contains a substring.
pub(crate) fn like_pattern(substring: &str) -> String {
    let mut pattern = String::with_capacity(substring.len().saturating_add(2));
    pattern.push('%');
    for character in substring.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_substring_is_looked_up_by_its_trigrams() {
        assert_eq!(trigram_query("ring").unwrap(), r#""ing" AND "rin""#);
        assert_eq!(trigram_query("a\"b").unwrap(), r#""a""b""#);
        assert_eq!(trigram_query("äöü").unwrap(), "\"äöü\"");
        assert_eq!(trigram_query("ab"), None);
        assert_eq!(trigram_query("a\0b"), None);
        let many = trigram_query("abcdefghijklmnopqrstuvwxyz").unwrap();
        assert_eq!(many.matches(" AND ").count(), MAX_TRIGRAMS - 1);
    }

    #[test]
    fn signs_of_a_pattern_are_only_signs() {
        assert_eq!(like_pattern(r"50%_\"), r"%50\%\_\\%");
    }
}
