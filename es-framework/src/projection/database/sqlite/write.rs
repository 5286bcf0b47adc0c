//! What is read and written inside a transaction.

use rusqlite::{Connection, OptionalExtension as _, params_from_iter, types};

use super::super::{
    super::{
        Cell, Table,
        fold::{Changes, StoredRow},
        tables::{self, IndexNames},
    },
    Checkpoint, Kept, rows,
};
use super::search_index::SearchIndexUpdate;

pub(super) fn write_rows(
    connection: &Connection,
    table: &Table,
    changes: Changes,
) -> Result<(), rusqlite::Error> {
    let mut index = SearchIndexUpdate::new(connection, table);
    if !changes.removed.is_empty() {
        let mut delete = connection.prepare_cached(&tables::delete(table))?;
        for key in changes.removed {
            let key = Cell::from(key);
            index.delete_row(key.clone())?;
            delete.execute([key])?;
        }
    }
    let mut upsert = connection.prepare_cached(&tables::upsert(table))?;
    for row in changes.rows {
        let cells: Vec<_> = rows::written(table, row).collect();
        index.write_row(&cells)?;
        upsert.execute(params_from_iter(cells))?;
    }
    index.apply()
}

/// Makes a table anew.
pub(super) fn reset(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    drop_table(connection, table)?;
    let is_taken = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?1)";
    let is_taken =
        connection.query_row(is_taken, [tables::first_index(table)], |row| row.get(0))?;
    for statement in tables::create(table, IndexNames::free(is_taken)) {
        connection.execute_batch(&statement)?;
    }
    write_checkpoint(connection, table, None)
}

fn drop_table(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&tables::drop(table))?;
    connection.execute_batch(&tables::drop_search_index(table))
}

/// Removes a table.
pub(super) fn remove(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    drop_table(connection, table)?;
    connection
        .prepare_cached(tables::DELETE_CHECKPOINT)?
        .execute([table.name()])?;
    Ok(())
}

/// Puts the table that was built beside in the place of the other one.
pub(super) fn swap(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    let beside = table.beside();
    let built = read_checkpoint(connection, &beside)?.and_then(|kept| kept.checkpoint);
    for statement in tables::swap(table) {
        connection.execute_batch(&statement)?;
    }
    remove(connection, &beside)?;
    write_checkpoint(connection, table, built)
}

/// The definition of a table and how far it has come.
pub(super) fn read_checkpoint(
    connection: &Connection,
    table: &Table,
) -> Result<Option<Kept>, rusqlite::Error> {
    connection
        .prepare_cached(tables::READ_CHECKPOINT)?
        .query_row([table.name()], |row| {
            Ok(Kept {
                definition: row.get(0)?,
                checkpoint: Checkpoint::of_columns(row.get(1)?, row.get(2)?),
            })
        })
        .optional()
}

pub(super) fn write_checkpoint(
    connection: &Connection,
    table: &Table,
    checkpoint: Option<Checkpoint>,
) -> Result<(), rusqlite::Error> {
    let position = checkpoint.map(|last| i64::try_from(last.id.get()).unwrap_or(i64::MAX));
    let hash = checkpoint.map(|last| last.hash.to_string());
    connection
        .prepare_cached(tables::WRITE_CHECKPOINT)?
        .execute((table.name(), tables::definition(table), position, hash))?;
    Ok(())
}

pub(super) fn read_row(
    row: &rusqlite::Row<'_>,
    columns: usize,
) -> Result<StoredRow, rusqlite::Error> {
    Ok(StoredRow {
        place: row.get(0)?,
        subject: None,
        cells: read_cells(row, columns)?,
    })
}

/// Reads the columns behind the position of a row.
pub(super) fn read_cells(
    row: &rusqlite::Row<'_>,
    columns: usize,
) -> Result<Vec<Cell>, rusqlite::Error> {
    let cells = (1..=columns).map(|index| {
        Ok(match row.get_ref(index)? {
            types::ValueRef::Integer(number) => Cell::Integer(number),
            types::ValueRef::Real(number) => Cell::Real(number),
            types::ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
            types::ValueRef::Null | types::ValueRef::Blob(_) => Cell::Null,
        })
    });
    cells.collect()
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> Result<types::ToSqlOutput<'_>, rusqlite::Error> {
        Ok(match self {
            Self::Null => types::Null.into(),
            Self::Text(text) => text.as_str().into(),
            Self::Integer(number) => (*number).into(),
            Self::Real(number) => (*number).into(),
            Self::Boolean(truth) => (*truth).into(),
        })
    }
}
