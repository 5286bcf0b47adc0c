//! The checksum of a row. It detects bytes that changed on the disk before they reach a client.

use rusqlite::{Row, types::ValueRef};

use super::database_error::SqliteError;
use es_event::EventType;

/// The number of the columns that the checksum covers besides the id.
const COLUMNS: usize = 9;
/// The column of the checksum.
const CHECKSUM: usize = 10;
/// Columns of at most this length in bytes are gathered in a buffer, because one checksum step for all of them is
/// faster than a step for each.
const COPIED: usize = 1 << 10;

/// A selected row whose checksum fits, if it has one.
#[derive(Debug)]
pub(super) struct StoredRow<'a> {
    pub(super) id: i64,
    /// The columns after the id, in the order of [`select`](super::row::select).
    pub(super) columns: [Option<&'a [u8]>; COLUMNS],
    /// False if an older version wrote the row without a checksum.
    pub(super) has_checksum: bool,
}

/// Computes the checksum of a row from its id and its other columns.
pub(super) fn compute<const N: usize>(id: i64, columns: [Option<&[u8]>; N]) -> i64 {
    let mut checksum = crc32fast::Hasher::new();
    let mut copied = Vec::with_capacity(COPIED);
    copied.extend_from_slice(&id.to_le_bytes());
    for column in columns {
        // The length separates a column from the next one, and NULL from an empty text.
        let length = column.map_or(-1, |bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        copied.extend_from_slice(&length.to_le_bytes());
        let bytes = column.unwrap_or_default();
        if bytes.len() <= COPIED {
            copied.extend_from_slice(bytes);
        } else {
            checksum.update(&copied);
            copied.clear();
            checksum.update(bytes);
        }
    }
    checksum.update(&copied);
    checksum.finalize().into()
}

/// Reads a row and checks its checksum.
pub(super) fn read_checked<'a>(row: &'a Row<'_>) -> Result<StoredRow<'a>, SqliteError> {
    let id: i64 = row.get(0)?;
    let mut columns = [None; COLUMNS];
    for (column, index) in columns.iter_mut().zip(1..) {
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
        ValueRef::Integer(stored) if stored == compute(id, columns) => true,
        ValueRef::Integer(_) => {
            return Err(SqliteError::flawed_event(
                id,
                "was damaged on the disk: its checksum differs",
            ));
        }
        _ => return Err(SqliteError::flawed_event(id, "has a broken checksum")),
    };
    Ok(StoredRow {
        id,
        columns,
        has_checksum,
    })
}

/// Computes the checksum of a schema.
pub(super) fn compute_for_schema(event_type: &EventType, schema: &str) -> i64 {
    let columns = [event_type.as_str(), schema];
    compute(0, columns.map(|text| Some(text.as_bytes())))
}
