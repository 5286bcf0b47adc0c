//! What is read and written inside a transaction.

use rusqlite::{Connection, OptionalExtension as _, params_from_iter, types};

use super::super::{
    super::{
        Cell, Table,
        fold::{Changes, StoredRow},
        tables,
    },
    Checkpoint, rows,
};
use crate::event::EventId;

pub(super) fn write_rows(
    connection: &Connection,
    table: &Table,
    changes: Changes,
) -> Result<(), rusqlite::Error> {
    if !changes.removed.is_empty() {
        let mut delete = connection.prepare_cached(&tables::delete(table))?;
        for key in changes.removed {
            delete.execute([Cell::from(key)])?;
        }
    }
    let mut upsert = connection.prepare_cached(&tables::upsert(table))?;
    for row in changes.rows {
        upsert.execute(params_from_iter(rows::written(table, row)))?;
    }
    Ok(())
}

/// Makes a table anew.
pub(super) fn reset(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&tables::drop(table))?;
    for statement in tables::create(table) {
        connection.execute_batch(&statement)?;
    }
    write_checkpoint(connection, table, None)
}

pub(super) type Known = (Option<String>, Option<Checkpoint>);

/// The definition of a table and how far it has come.
pub(super) fn read_checkpoint(
    connection: &Connection,
    model: &str,
) -> Result<Known, rusqlite::Error> {
    let row = connection
        .prepare_cached(tables::READ_CHECKPOINT)?
        .query_row([model], |row| {
            let position: Option<i64> = row.get(1)?;
            let hash: Option<String> = row.get(2)?;
            Ok((row.get::<_, String>(0)?, position, hash))
        })
        .optional()?;
    let Some((definition, position, hash)) = row else {
        return Ok((None, None));
    };
    let id = position
        .and_then(|position| u64::try_from(position).ok())
        .and_then(EventId::new);
    let hash = hash.and_then(|hash| hash.parse().ok());
    let checkpoint = id.zip(hash).map(|(id, hash)| Checkpoint { id, hash });
    Ok((Some(definition), checkpoint))
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
        .execute((table.model.name, tables::definition(table), position, hash))?;
    Ok(())
}

pub(super) fn read_row(
    row: &rusqlite::Row<'_>,
    columns: usize,
) -> Result<StoredRow, rusqlite::Error> {
    let cells = (1..=columns)
        .map(|index| {
            Ok(match row.get_ref(index)? {
                types::ValueRef::Integer(number) => Cell::Integer(number),
                types::ValueRef::Real(number) => Cell::Real(number),
                types::ValueRef::Text(text) => {
                    Cell::Text(String::from_utf8_lossy(text).into_owned())
                }
                types::ValueRef::Null | types::ValueRef::Blob(_) => Cell::Null,
            })
        })
        .collect::<Result<_, rusqlite::Error>>()?;
    Ok(StoredRow {
        place: row.get(0)?,
        subject: None,
        cells,
    })
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
