//! The update of the search index in the transaction that writes the rows.

use std::collections::HashMap;

use super::super::{Cell, Table, row_changes::RowChanges, search_index, table_statements};
use es_sql::{DatabaseError, SqlDatabase, Statement};

/// The entries of the search index of one table that a batch changes.
///
/// The entries are written after the rows: FTS5 flushes what it has gathered at each statement that
/// begins a savepoint, so triggers that write an entry with its row take three times as long.
#[derive(Debug, Default)]
pub(super) struct SearchIndexUpdate {
    outdated: Vec<Vec<Cell>>,
    /// The position and the texts of each new entry.
    added: Vec<Vec<Cell>>,
}

impl SearchIndexUpdate {
    /// Compares the rows that are about to be written, given all of their cells, with those that are stored. Only this
    /// process writes the table, so they are still the same when the transaction begins.
    pub(super) async fn load(
        database: &SqlDatabase,
        table: &Table,
        changes: &RowChanges,
        rows: &[Vec<Cell>],
    ) -> Result<Self, DatabaseError> {
        let offset = table_statements::unique_column_offset(table);
        let written = rows.iter().filter_map(|row| row.get(offset));
        let removals = changes.removed.iter();
        let removed: Vec<_> = removals.map(|(_, key)| Cell::from(key.clone())).collect();
        let keys = removed.iter().chain(written).map(|key| vec![key.clone()]);
        let select = search_index::select_texts_statement(table);
        let selection = Statement::for_rows(select, keys.collect());
        let selected = database.read(selection).await?.into_iter();
        let mut stored: HashMap<String, Vec<Cell>> = selected.filter_map(split_key).collect();
        let mut update = Self::default();
        for key in &removed {
            let entry = key_text(key).and_then(|key| stored.remove(&key));
            update.outdate(entry.as_deref());
        }
        for row in rows {
            let key = row.get(offset).and_then(key_text);
            let entry = key.and_then(|key| stored.remove(&key));
            update.replace(table, entry.as_deref(), row);
        }
        Ok(update)
    }

    fn outdate(&mut self, entry: Option<&[Cell]>) {
        let position = entry.and_then(|entry| entry.first());
        self.outdated
            .extend(position.map(|position| vec![position.clone()]));
    }

    fn replace(&mut self, table: &Table, stored: Option<&[Cell]>, row: &[Cell]) {
        let first_text = row.len().saturating_sub(table.searched.len());
        let texts = row.get(first_text..).unwrap_or_default();
        // A row that is replaced keeps its position.
        let position = stored.unwrap_or(row).first();
        if stored.is_some_and(|entry| entry.get(1..) == Some(texts)) {
            return;
        }
        self.outdate(stored);
        let entry = position.into_iter().chain(texts).cloned();
        self.added.push(entry.collect());
    }

    /// Returns the statements that write the changes to the index.
    pub(super) fn into_statements(self, table: &Table) -> impl Iterator<Item = Statement> {
        let statements = [
            (search_index::delete_entry_statement(table), self.outdated),
            (search_index::insert_entry_statement(table), self.added),
        ];
        let needed = statements.into_iter().filter(|(_, rows)| !rows.is_empty());
        needed.map(|(sql, rows)| Statement::for_rows(sql, rows))
    }
}

/// Splits a stored row into its key and its entry of the index: its position and its texts.
fn split_key(row: Vec<Cell>) -> Option<(String, Vec<Cell>)> {
    let mut cells = row.into_iter();
    let key = key_text(&cells.next()?)?;
    Some((key, cells.collect()))
}

/// Returns the text of a key. All keys of a table are of one kind.
fn key_text(key: &Cell) -> Option<String> {
    match key {
        Cell::Text(text) => Some(text.clone()),
        key => key.as_integer().map(|number| number.to_string()),
    }
}
