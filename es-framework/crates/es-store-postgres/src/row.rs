//! Conversion between rows and events. A row that is not as it was written is refused.

use sqlx::{Row as _, ValueRef as _, postgres::PgRow};

use super::database_error::DatabaseError;
use es_event::EventId;
use es_store::event_row::{self, StoredRow};

pub(super) use es_store::event_row::{hash_bytes, parse_hash as hash, sql_number as number};

/// The columns of an event, in the order that [`read_checked`] expects.
macro_rules! columns {
    () => {
        $crate::row::columns!("e.id")
    };
    ($id:literal) => {
        concat!(
            $id,
            ", e.subject, e.type, e.source, e.time, e.traceparent, e.tracestate, \
             e.predecessor_hash, e.hash, e.data, e.checksum"
        )
    };
}
pub(super) use columns;

/// The number of these columns, which is the index of the next one.
pub(super) const COLUMNS: usize = 11;
const CHECKSUM: usize = 10;

/// Converts the id of a row.
pub(super) fn to_event_id(number: i64) -> Result<EventId, DatabaseError> {
    Ok(event_row::to_event_id(number)?)
}

/// Returns true if a row has nothing but an id.
pub(super) fn is_missing(row: &PgRow) -> Result<bool, DatabaseError> {
    Ok(row.try_get_raw(1)?.is_null())
}

/// A row whose checksum fits.
#[derive(Debug)]
pub(super) struct CheckedRow<'a> {
    pub(super) row: StoredRow<'a>,
    pub(super) id: EventId,
}

/// Reads the columns of an event without its checksum.
pub(super) fn read_columns(row: &PgRow) -> Result<StoredRow<'_>, DatabaseError> {
    let mut stored = StoredRow {
        id: row.try_get(0)?,
        columns: Default::default(),
    };
    for (column, index) in stored.columns.iter_mut().zip(1..) {
        let value = row.try_get_raw(index)?;
        if !value.is_null() {
            // The database sends texts and bytes as they are.
            *column = Some(value.as_bytes().map_err(sqlx::Error::Decode)?);
        }
    }
    Ok(stored)
}

/// Reads a row and compares its checksum.
pub(super) fn read_checked(row: &PgRow) -> Result<CheckedRow<'_>, DatabaseError> {
    let stored = read_columns(row)?;
    let checksum: Option<i64> = row.try_get(CHECKSUM)?;
    if checksum != Some(stored.checksum()) {
        let flaw = "was changed in the database: its checksum differs";
        return Err(DatabaseError::flawed_event(stored.id, flaw));
    }
    Ok(CheckedRow {
        id: to_event_id(stored.id)?,
        row: stored,
    })
}
