//! Conversion between events and rows.

use std::str;

use rusqlite::{CachedStatement, Connection, Row};
use serde_json::value::RawValue;

use super::{
    database_error::SqliteError,
    row_checksum::{self, StoredRow},
    stored_hash,
};
use es_event::{EventId, FieldInterner, Hash, RecordedEvent, Subject, TraceContext};

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
    let trace = event.trace.as_ref();
    let (parent, state) = (
        trace.map(TraceContext::parent),
        trace.and_then(TraceContext::state),
    );
    let (predecessor, hash) = (
        stored_hash::bytes(&event.predecessor_hash),
        stored_hash::bytes(&event.hash),
    );
    let checksum = row_checksum::compute(
        number(event.id.get()),
        [
            Some(event.subject.as_str().as_bytes()),
            Some(event.event_type.as_str().as_bytes()),
            Some(event.source.as_bytes()),
            Some(event.time.as_str().as_bytes()),
            parent.map(str::as_bytes),
            state.map(str::as_bytes),
            Some(predecessor.as_slice()),
            Some(hash.as_slice()),
            Some(event.data.get().as_bytes()),
        ],
    );
    statement.execute(rusqlite::params![
        number(event.id.get()),
        event.subject.as_str(),
        event.event_type.as_str(),
        &*event.source,
        event.time.as_str(),
        parent,
        state,
        predecessor.as_slice(),
        hash.as_slice(),
        event.data.get(),
        checksum,
    ])?;
    Ok(())
}

/// Converts an id, a length or a limit to SQL's integer type. No id is larger than that.
pub(super) fn number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts the id of a row.
pub(super) fn to_event_id(number: i64) -> Result<EventId, SqliteError> {
    u64::try_from(number)
        .ok()
        .and_then(EventId::new)
        .ok_or_else(|| SqliteError::flawed_event(number, "has a negative id"))
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
pub(super) struct RowDecoder {
    interner: FieldInterner,
}

impl RowDecoder {
    /// Checks a row and decodes it.
    pub(super) fn check_and_decode(&mut self, row: &Row<'_>) -> Result<RecordedEvent, SqliteError> {
        self.decode_row(&row_checksum::read_checked(row)?)
    }

    /// Decodes a row. A row without a checksum must have the right hash.
    pub(super) fn decode_row(&mut self, row: &StoredRow<'_>) -> Result<RecordedEvent, SqliteError> {
        let event = self.parse(row)?;
        if row.has_checksum || event.computed_hash() == event.hash {
            Ok(event)
        } else {
            Err(SqliteError::flawed_event(
                row.id,
                "was damaged on the disk: its hash differs",
            ))
        }
    }

    fn parse(&mut self, row: &StoredRow<'_>) -> Result<RecordedEvent, SqliteError> {
        let [
            subject,
            event_type,
            source,
            time,
            parent,
            state,
            predecessor_hash,
            hash,
            data,
        ] = row.columns;
        let trace = TraceContext::new(
            row.optional_text(parent, "traceparent")?,
            row.optional_text(state, "tracestate")?,
        );
        let data = RawValue::from_string(row.text(data, "data")?.to_owned());
        Ok(RecordedEvent {
            id: to_event_id(row.id)?,
            subject: row.subject(subject)?,
            event_type: self
                .interner
                .event_type(row.text(event_type, "type")?)
                .map_err(|error| row.flawed_column("type", error))?,
            source: self.interner.source(row.text(source, "source")?),
            time: self
                .interner
                .time(row.text(time, "time")?)
                .map_err(|error| row.flawed_column("time", error))?,
            trace: trace.map_err(|error| row.flawed_column("trace", error))?,
            predecessor_hash: row.hash(predecessor_hash, "predecessor_hash")?,
            hash: row.hash(hash, "hash")?,
            data: data.map_err(|error| row.flawed_column("data", error))?,
        })
    }
}

/// The errors name the event and the column.
impl<'a> StoredRow<'a> {
    fn flawed_column(&self, name: &str, flaw: impl std::fmt::Display) -> SqliteError {
        SqliteError::flawed_event(self.id, format!("has a broken {name}: {flaw}"))
    }

    fn optional_text(
        &self,
        column: Option<&'a [u8]>,
        name: &str,
    ) -> Result<Option<&'a str>, SqliteError> {
        let text = column.map(str::from_utf8).transpose();
        text.map_err(|error| self.flawed_column(name, error))
    }

    fn text(&self, column: Option<&'a [u8]>, name: &str) -> Result<&'a str, SqliteError> {
        let missing = || self.flawed_column(name, "it is NULL");
        self.optional_text(column, name)?.ok_or_else(missing)
    }

    fn subject(&self, column: Option<&'a [u8]>) -> Result<Subject, SqliteError> {
        let parsed = Subject::parse_recorded(self.text(column, "subject")?);
        parsed.map_err(|error| self.flawed_column("subject", error))
    }

    fn hash(&self, column: Option<&'a [u8]>, name: &str) -> Result<Hash, SqliteError> {
        let bytes = column.unwrap_or_default();
        let length = bytes.len();
        let broken = || self.flawed_column(name, format_args!("it has {length} bytes"));
        stored_hash::parse_hash(bytes).ok_or_else(broken)
    }
}
