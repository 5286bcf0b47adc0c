//! Conversion between events and rows.

use rusqlite::{CachedStatement, Connection, Row};

use super::{
    database_error::SqliteError,
    row_checksum::{self, CheckedRow},
};
use es_event::{EventId, RecordedEvent};
use es_store::event_row::{self, EventColumns};

pub(super) use es_store::event_row::sql_number as number;

/// Selects the columns in the order that [`RowDecoder::event`] expects.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, subject, type, source, time, traceparent, tracestate, ",
            "predecessor_hash, hash, data, checksum FROM events ",
            $rest
        )
    };
}
pub(super) use select;

const INSERT: &str = "INSERT INTO events (id, subject, type, source, time, traceparent, tracestate, \
     predecessor_hash, hash, data, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/// Returns the statement that [`insert`] runs; a batch prepares it once.
pub(super) fn prepare_insert(connection: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    connection.prepare_cached(INSERT)
}

pub(super) fn insert_event(
    statement: &mut CachedStatement<'_>,
    event: &RecordedEvent,
) -> rusqlite::Result<()> {
    let columns = EventColumns::from(event);
    let checksum = columns.checksum();
    statement.execute(rusqlite::params![
        columns.id,
        columns.subject,
        columns.event_type,
        columns.source,
        columns.time,
        columns.trace_parent,
        columns.trace_state,
        columns.predecessor_hash,
        columns.hash,
        columns.data,
        checksum,
    ])?;
    Ok(())
}

/// Converts the id of a row.
pub(super) fn to_event_id(number: i64) -> Result<EventId, SqliteError> {
    Ok(event_row::to_event_id(number)?)
}

/// Runs a query for one id and reads its row. An id that the index lists has a row.
pub(super) fn row_with_id<T>(
    statement: &mut CachedStatement<'_>,
    id: i64,
    read: impl FnOnce(&Row<'_>) -> Result<T, SqliteError>,
) -> Result<T, SqliteError> {
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => read(row),
        None => Err(SqliteError::flawed_event(id, "is missing")),
    }
}

/// Checks that a row is not damaged.
pub(super) fn verify_row(row: &Row<'_>) -> Result<(), SqliteError> {
    let row = row_checksum::read_checked(row)?;
    if !row.has_checksum {
        RowDecoder::default().decode_row(&row)?;
    }
    Ok(())
}

/// Decodes rows to events.
#[derive(Debug, Default)]
pub(super) struct RowDecoder(event_row::StoredRowDecoder);

impl RowDecoder {
    /// Checks a row and decodes it.
    pub(super) fn check_and_decode(&mut self, row: &Row<'_>) -> Result<RecordedEvent, SqliteError> {
        self.decode_row(&row_checksum::read_checked(row)?)
    }

    /// Decodes a row. A row without a checksum must have the right hash.
    pub(super) fn decode_row(
        &mut self,
        checked: &CheckedRow<'_>,
    ) -> Result<RecordedEvent, SqliteError> {
        let event = self.0.decode_row(&checked.row)?;
        if checked.has_checksum || event.computed_hash() == event.hash {
            Ok(event)
        } else {
            Err(SqliteError::flawed_event(
                checked.row.id,
                "was damaged on the disk: its hash differs",
            ))
        }
    }
}
