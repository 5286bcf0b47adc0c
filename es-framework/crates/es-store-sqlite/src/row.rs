//! Conversion between events and rows.

use std::str::FromStr;

use rusqlite::{CachedStatement, Connection, Row, types::ValueRef};
use serde_json::value::RawValue;

use super::{row_checksum, store_file_error::StoreFileError, stored_hash};
use es_event::{EventId, Hash, ParseCache, RecordedEvent, TraceContext};

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

pub(super) fn insert(
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
pub(super) fn id(number: i64) -> Result<EventId, StoreFileError> {
    u64::try_from(number)
        .ok()
        .and_then(EventId::new)
        .ok_or_else(|| StoreFileError::flawed_event(number, "has a negative id"))
}

/// Runs a query for one id and reads its row. An id that the index lists has a row.
pub(super) fn row_with_id<T>(
    statement: &mut CachedStatement<'_>,
    id: i64,
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreFileError>,
) -> Result<T, StoreFileError> {
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => read(row),
        None => Err(StoreFileError::flawed_event(id, "is missing")),
    }
}

/// Checks that a row is not damaged.
pub(super) fn verify(row: &Row<'_>) -> Result<(), StoreFileError> {
    if !row_checksum::check(row)? {
        RowDecoder::default().event(row)?;
    }
    Ok(())
}

/// Decodes rows to events.
#[derive(Debug, Default)]
pub(super) struct RowDecoder {
    known: ParseCache,
}

impl RowDecoder {
    pub(super) fn event(&mut self, row: &Row<'_>) -> Result<RecordedEvent, StoreFileError> {
        let number: i64 = row.get(0)?;
        let has_checksum = row_checksum::check(row)?;
        let event = self.decode(row, number)?;
        if has_checksum || event.computed_hash() == event.hash {
            Ok(event)
        } else {
            Err(StoreFileError::flawed_event(
                number,
                "was damaged on the disk: its hash differs",
            ))
        }
    }

    fn decode(&mut self, row: &Row<'_>, number: i64) -> Result<RecordedEvent, StoreFileError> {
        let fields = CheckedRow { row, id: number };
        Ok(RecordedEvent {
            id: id(number)?,
            subject: fields.parsed(1, "subject")?,
            event_type: self
                .known
                .event_type(fields.text(2, "type")?)
                .map_err(|error| fields.flawed_column("type", error))?,
            source: self.known.source(fields.text(3, "source")?),
            time: self
                .known
                .time(fields.text(4, "time")?)
                .map_err(|error| fields.flawed_column("time", error))?,
            trace: fields.trace()?,
            predecessor_hash: fields.hash(7, "predecessor_hash")?,
            hash: fields.hash(8, "hash")?,
            data: fields.data()?,
        })
    }
}

/// A row whose errors name the event and the column.
struct CheckedRow<'a, 'row> {
    row: &'a Row<'row>,
    id: i64,
}

impl<'a> CheckedRow<'a, '_> {
    fn flawed_column(&self, column: &str, flaw: impl std::fmt::Display) -> StoreFileError {
        StoreFileError::flawed_event(self.id, format!("has a broken {column}: {flaw}"))
    }

    fn value(&self, index: usize) -> Result<ValueRef<'a>, StoreFileError> {
        Ok(self.row.get_ref(index)?)
    }

    fn text(&self, index: usize, column: &str) -> Result<&'a str, StoreFileError> {
        self.value(index)?
            .as_str()
            .map_err(|error| self.flawed_column(column, error))
    }

    fn parsed<T: FromStr<Err: std::fmt::Display>>(
        &self,
        index: usize,
        column: &str,
    ) -> Result<T, StoreFileError> {
        self.text(index, column)?
            .parse()
            .map_err(|error| self.flawed_column(column, error))
    }

    fn hash(&self, index: usize, column: &str) -> Result<Hash, StoreFileError> {
        let bytes = self.value(index)?.as_blob();
        let bytes = bytes.map_err(|error| self.flawed_column(column, error))?;
        let length = bytes.len();
        let broken = || self.flawed_column(column, format_args!("it has {length} bytes"));
        stored_hash::parse(bytes).ok_or_else(broken)
    }

    fn trace(&self) -> Result<Option<TraceContext>, StoreFileError> {
        let optional = |index, column| {
            let text = self.value(index)?.as_str_or_null();
            text.map_err(|error| self.flawed_column(column, error))
        };
        let (parent, state) = (optional(5, "traceparent")?, optional(6, "tracestate")?);
        TraceContext::new(parent, state).map_err(|error| self.flawed_column("trace", error))
    }

    fn data(&self) -> Result<Box<RawValue>, StoreFileError> {
        let text = self.text(9, "data")?;
        RawValue::from_string(text.to_owned()).map_err(|error| self.flawed_column("data", error))
    }
}
