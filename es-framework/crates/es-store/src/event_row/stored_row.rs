//! A row of an event that was read, and its conversion to the event.

use std::{fmt, str};

use serde_json::value::RawValue;

use super::{
    checksum::{COLUMNS, compute_checksum},
    row_flaw::{RowFlaw, to_event_id},
    stored_hash::parse_hash,
};
use es_event::{FieldInterner, Hash, RecordedEvent, Subject, TraceContext};

/// A row of an event, as the database returns it.
#[derive(Debug)]
pub struct StoredRow<'a> {
    /// The id of the event.
    pub id: i64,
    /// The subject, type, source, time, trace parent, trace state, predecessor's hash, hash and data.
    pub columns: [Option<&'a [u8]>; COLUMNS],
}

impl<'a> StoredRow<'a> {
    /// Computes the checksum of the row.
    #[must_use]
    pub fn checksum(&self) -> i64 {
        compute_checksum(self.id, self.columns)
    }

    fn flawed_column(&self, name: &str, flaw: impl fmt::Display) -> RowFlaw {
        RowFlaw::new(self.id, format!("has a broken {name}: {flaw}"))
    }

    fn optional_text(
        &self,
        column: Option<&'a [u8]>,
        name: &str,
    ) -> Result<Option<&'a str>, RowFlaw> {
        let text = column.map(str::from_utf8).transpose();
        text.map_err(|error| self.flawed_column(name, error))
    }

    fn text(&self, column: Option<&'a [u8]>, name: &str) -> Result<&'a str, RowFlaw> {
        let missing = || self.flawed_column(name, "it is NULL");
        self.optional_text(column, name)?.ok_or_else(missing)
    }

    fn subject(&self, column: Option<&'a [u8]>) -> Result<Subject, RowFlaw> {
        let parsed = Subject::parse_recorded(self.text(column, "subject")?);
        parsed.map_err(|error| self.flawed_column("subject", error))
    }

    fn hash(&self, column: Option<&'a [u8]>, name: &str) -> Result<Hash, RowFlaw> {
        let bytes = column.unwrap_or_default();
        let length = bytes.len();
        let broken = || self.flawed_column(name, format_args!("it has {length} bytes"));
        parse_hash(bytes).ok_or_else(broken)
    }
}

/// Converts rows to events.
#[derive(Debug, Default)]
pub struct StoredRowDecoder {
    interner: FieldInterner,
}

impl StoredRowDecoder {
    /// Converts a row whose checksum the engine has compared.
    pub fn decode_row(&mut self, row: &StoredRow<'_>) -> Result<RecordedEvent, RowFlaw> {
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
            unopened: None,
        })
    }
}
