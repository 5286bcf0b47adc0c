//! Reads rows and compares their checksums, which detect bytes that changed on the disk.

use rusqlite::{Row, types::ValueRef};

use super::database_error::SqliteError;
use es_store::event_row::StoredRow;

/// The column of the checksum.
const CHECKSUM: usize = 10;

/// A selected row whose checksum fits, if it has one.
#[derive(Debug)]
pub(super) struct CheckedRow<'a> {
    pub(super) row: StoredRow<'a>,
    /// False if an older version wrote the row without a checksum.
    pub(super) has_checksum: bool,
}

/// Reads a row and checks its checksum.
pub(super) fn read_checked<'a>(row: &'a Row<'_>) -> Result<CheckedRow<'a>, SqliteError> {
    let id: i64 = row.get(0)?;
    let mut stored = StoredRow {
        id,
        columns: Default::default(),
    };
    for (column, index) in stored.columns.iter_mut().zip(1..) {
        *column = match row.get_ref(index)? {
            ValueRef::Null => None,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            ValueRef::Integer(_) | ValueRef::Real(_) => {
                return Err(SqliteError::flawed_event(
                    id,
                    "has a column of another type",
                ));
            }
        };
    }
    let has_checksum = match row.get_ref(CHECKSUM)? {
        ValueRef::Null => false,
        ValueRef::Integer(checksum) if checksum == stored.checksum() => true,
        ValueRef::Integer(_) => {
            return Err(SqliteError::flawed_event(
                id,
                "was damaged on the disk: its checksum differs",
            ));
        }
        _ => return Err(SqliteError::flawed_event(id, "has a broken checksum")),
    };
    Ok(CheckedRow {
        row: stored,
        has_checksum,
    })
}
