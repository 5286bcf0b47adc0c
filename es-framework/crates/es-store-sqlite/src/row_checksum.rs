//! The checksum of a row. It detects bytes that changed on the disk before they reach a client.

use rusqlite::{Row, types::ValueRef};

use super::store_file_error::StoreFileError;
use es_event::EventType;

/// The columns of a selected event that the checksum covers besides the id.
const COLUMNS: std::ops::RangeInclusive<usize> = 1..=9;
/// The column of the checksum.
const CHECKSUM: usize = 10;

/// Computes the checksum of a row from its id and its other columns.
pub(super) fn compute<'a>(id: i64, columns: impl IntoIterator<Item = Option<&'a [u8]>>) -> i64 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&id.to_le_bytes());
    for column in columns {
        // The length separates a column from the next one, and NULL from an empty text.
        let length = column.map_or(-1, |bytes| i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        checksum.update(&length.to_le_bytes());
        checksum.update(column.unwrap_or_default());
    }
    checksum.finalize().into()
}

/// Checks the checksum of a row. Returns false if an older version wrote the row without one.
pub(super) fn check(row: &Row<'_>) -> Result<bool, StoreFileError> {
    let id: i64 = row.get(0)?;
    let stored = match row.get_ref(CHECKSUM)? {
        ValueRef::Null => return Ok(false),
        ValueRef::Integer(stored) => stored,
        _ => return Err(StoreFileError::flawed_event(id, "has a broken checksum")),
    };
    let mut columns = [None; 9];
    for (column, index) in columns.iter_mut().zip(COLUMNS) {
        *column = match row.get_ref(index)? {
            ValueRef::Null => None,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            ValueRef::Integer(_) | ValueRef::Real(_) => {
                return Err(StoreFileError::flawed_event(
                    id,
                    "has a column of another type",
                ));
            }
        };
    }
    if compute(id, columns) == stored {
        Ok(true)
    } else {
        Err(StoreFileError::flawed_event(
            id,
            "was damaged on the disk: its checksum differs",
        ))
    }
}

/// Computes the checksum of a schema.
pub(super) fn compute_for_schema(event_type: &EventType, schema: &str) -> i64 {
    let columns = [event_type.as_str(), schema];
    compute(0, columns.map(|text| Some(text.as_bytes())))
}
