//! The columns of an event that is written.

use super::{
    checksum::{COLUMNS, compute_checksum},
    row_flaw::sql_number,
    stored_hash::hash_bytes,
};
use es_event::{RecordedEvent, TraceContext};

/// The columns of an event, in the form of the database.
#[derive(Debug)]
pub struct EventColumns<'a> {
    /// The id.
    pub id: i64,
    /// The subject.
    pub subject: &'a str,
    /// The type.
    pub event_type: &'a str,
    /// The source.
    pub source: &'a str,
    /// The time.
    pub time: &'a str,
    /// The trace parent.
    pub trace_parent: Option<&'a str>,
    /// The trace state.
    pub trace_state: Option<&'a str>,
    /// The hash of the event before.
    pub predecessor_hash: Vec<u8>,
    /// The hash.
    pub hash: Vec<u8>,
    /// The data.
    pub data: &'a str,
}

impl<'a> From<&'a RecordedEvent> for EventColumns<'a> {
    fn from(event: &'a RecordedEvent) -> Self {
        let trace = event.trace.as_ref();
        Self {
            id: sql_number(event.id.get()),
            subject: event.subject.as_str(),
            event_type: event.event_type.as_str(),
            source: &event.source,
            time: event.time.as_str(),
            trace_parent: trace.map(TraceContext::parent),
            trace_state: trace.and_then(TraceContext::state),
            predecessor_hash: hash_bytes(&event.predecessor_hash),
            hash: hash_bytes(&event.hash),
            data: event.data.get(),
        }
    }
}

impl EventColumns<'_> {
    /// Computes the checksum of the row.
    #[must_use]
    pub fn checksum(&self) -> i64 {
        compute_checksum(self.id, self.bytes())
    }

    fn bytes(&self) -> [Option<&[u8]>; COLUMNS] {
        [
            Some(self.subject.as_bytes()),
            Some(self.event_type.as_bytes()),
            Some(self.source.as_bytes()),
            Some(self.time.as_bytes()),
            self.trace_parent.map(str::as_bytes),
            self.trace_state.map(str::as_bytes),
            Some(&self.predecessor_hash),
            Some(&self.hash),
            Some(self.data.as_bytes()),
        ]
    }
}
