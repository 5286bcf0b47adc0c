//! The conversion of cells from and to SQLite.

use rusqlite::types;

use super::super::Cell;

/// Reads the columns of a row.
pub(super) fn read_cells(
    row: &rusqlite::Row<'_>,
    columns: usize,
) -> Result<Vec<Cell>, rusqlite::Error> {
    let cells = (0..columns).map(|index| {
        Ok(match row.get_ref(index)? {
            types::ValueRef::Integer(number) => Cell::Integer(number),
            types::ValueRef::Real(number) => Cell::Real(number),
            types::ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
            types::ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
            types::ValueRef::Null => Cell::Null,
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
            Self::Bytes(bytes) => bytes.as_slice().into(),
        })
    }
}
