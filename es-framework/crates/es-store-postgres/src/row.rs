//! Conversion between rows and events.

use serde_json::value::RawValue;
use sqlx::{Row as _, postgres::PgRow};

use super::database_error::DatabaseError;
use es_event::{EventId, FieldInterner, Hash, HashVersion, RecordedEvent, Subject, TraceContext};

/// The columns of an event, in the order that [`RowDecoder`] expects.
macro_rules! columns {
    () => {
        "e.id, e.subject, e.type, e.source, e.time, e.traceparent, e.tracestate, \
         e.predecessor_hash, e.hash, e.data"
    };
}
pub(super) use columns;

/// Converts an id, a length or a limit to SQL's integer type. No id is larger than that.
pub(super) fn number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts the id of a row.
pub(super) fn to_event_id(number: i64) -> Result<EventId, DatabaseError> {
    u64::try_from(number)
        .ok()
        .and_then(EventId::new)
        .ok_or_else(|| DatabaseError::flawed_event(number, "has a negative id"))
}

/// The byte after a hash of version 2. A hash of version 1 has 32 bytes and nothing after them.
const VERSION_2: u8 = 2;

/// Converts a hash to the form of the database.
pub(super) fn hash_bytes(hash: &Hash) -> Vec<u8> {
    let mut bytes = hash.as_bytes().to_vec();
    if hash.version() == HashVersion::V2 {
        bytes.push(VERSION_2);
    }
    bytes
}

/// Reads a hash of the database. Returns `None` if the bytes are not a hash.
pub(super) fn hash(bytes: &[u8]) -> Option<Hash> {
    if let Ok(digest) = bytes.try_into() {
        return Some(Hash::from_bytes(digest));
    }
    let (version, digest) = bytes.split_last()?;
    let digest = digest.try_into().ok()?;
    (*version == VERSION_2).then(|| Hash::new(HashVersion::V2, digest))
}

/// Decodes rows to events.
#[derive(Debug, Default)]
pub(super) struct RowDecoder {
    interner: FieldInterner,
}

impl RowDecoder {
    pub(super) fn decode_event(&mut self, row: &PgRow) -> Result<RecordedEvent, DatabaseError> {
        let number: i64 = row.try_get(0)?;
        let fields = RowFields { row, id: number };
        let trace = TraceContext::new(fields.row.try_get(5)?, fields.row.try_get(6)?);
        Ok(RecordedEvent {
            id: to_event_id(number)?,
            subject: fields.subject(1)?,
            event_type: self
                .interner
                .event_type(row.try_get(2)?)
                .map_err(|error| fields.flawed_column("type", error))?,
            source: self.interner.source(row.try_get(3)?),
            time: self
                .interner
                .time(row.try_get(4)?)
                .map_err(|error| fields.flawed_column("time", error))?,
            trace: trace.map_err(|error| fields.flawed_column("trace", error))?,
            predecessor_hash: fields.hash(7, "predecessor_hash")?,
            hash: fields.hash(8, "hash")?,
            data: RawValue::from_string(row.try_get(9)?)
                .map_err(|error| fields.flawed_column("data", error))?,
        })
    }
}

/// A row whose errors name the event and the column.
struct RowFields<'a> {
    row: &'a PgRow,
    id: i64,
}

impl RowFields<'_> {
    fn flawed_column(&self, column: &str, flaw: impl std::fmt::Display) -> DatabaseError {
        DatabaseError::flawed_event(self.id, format!("has a broken {column}: {flaw}"))
    }

    fn subject(&self, index: usize) -> Result<Subject, DatabaseError> {
        let parsed = Subject::parse_recorded(self.row.try_get(index)?);
        parsed.map_err(|error| self.flawed_column("subject", error))
    }

    fn hash(&self, index: usize, column: &str) -> Result<Hash, DatabaseError> {
        let bytes: &[u8] = self.row.try_get(index)?;
        hash(bytes).ok_or_else(|| self.flawed_column(column, "it is not a hash"))
    }
}
