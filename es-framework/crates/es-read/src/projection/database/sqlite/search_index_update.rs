//! The update of the search index in the transaction that writes the rows.

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params_from_iter};

use super::{
    super::super::{Cell, Table, search_index, table_statements},
    cells::read_cells,
};

/// The entries of the search index of one table that a batch changes.
///
/// The entries are written after the rows: FTS5 flushes what it has gathered at each statement that
/// begins a savepoint, so triggers that write an entry with its row take three times as long.
pub(super) struct SearchIndexUpdate<'a> {
    connection: &'a Connection,
    table: &'a Table,
    /// The index of the key among the cells of a row.
    key: usize,
    /// Loads the texts of a row. `None` if no column is searched.
    select: Option<CachedStatement<'a>>,
    outdated: Vec<i64>,
    /// The position and the texts of each new entry.
    added: Vec<Vec<Cell>>,
}

impl<'a> SearchIndexUpdate<'a> {
    pub(super) fn new(connection: &'a Connection, table: &'a Table) -> rusqlite::Result<Self> {
        let select = (!table.searched.is_empty())
            .then(|| connection.prepare_cached(&search_index::select_texts_statement(table)));
        Ok(Self {
            connection,
            table,
            key: table_statements::unique_column_offset(table),
            select: select.transpose()?,
            outdated: Vec::new(),
            added: Vec::new(),
        })
    }

    /// Records that the row of a key is about to be deleted.
    pub(super) fn record_deletion(&mut self, key: Cell) -> Result<(), rusqlite::Error> {
        if let Some((position, _)) = self.load_texts(key)? {
            self.outdated.push(position);
        }
        Ok(())
    }

    /// Records that a row is about to be written, given all of its cells.
    pub(super) fn record_write(&mut self, cells: &[Cell]) -> Result<(), rusqlite::Error> {
        if self.select.is_none() {
            return Ok(());
        }
        let texts = cells.len().saturating_sub(self.table.searched.len());
        let (Some(Cell::Integer(position)), Some(key), Some(texts)) =
            (cells.first(), cells.get(self.key), cells.get(texts..))
        else {
            return Ok(());
        };
        let stored = self.load_texts(key.clone())?;
        if stored.as_ref().is_some_and(|(_, stored)| stored == texts) {
            return Ok(());
        }
        // A row that is replaced keeps its position.
        let mut position = *position;
        if let Some((stored, _)) = stored {
            position = stored;
            self.outdated.push(position);
        }
        let entry = [Cell::Integer(position)].into_iter();
        self.added
            .push(entry.chain(texts.iter().cloned()).collect());
        Ok(())
    }

    /// Writes the recorded changes to the index.
    pub(super) fn apply(self) -> Result<(), rusqlite::Error> {
        if !self.outdated.is_empty() {
            let delete = search_index::delete_entry_statement(self.table);
            let mut delete = self.connection.prepare_cached(&delete)?;
            for position in self.outdated {
                delete.execute([position])?;
            }
        }
        if !self.added.is_empty() {
            let insert = search_index::insert_entry_statement(self.table);
            let mut insert = self.connection.prepare_cached(&insert)?;
            for entry in self.added {
                insert.execute(params_from_iter(entry))?;
            }
        }
        Ok(())
    }

    /// Loads the position and the searched texts of the stored row with this key.
    fn load_texts(&mut self, key: Cell) -> Result<Option<(i64, Vec<Cell>)>, rusqlite::Error> {
        let Some(select) = &mut self.select else {
            return Ok(None);
        };
        let columns = self.table.searched.len();
        select
            .query_row([key], |row| Ok((row.get(0)?, read_cells(row, columns)?)))
            .optional()
    }
}
