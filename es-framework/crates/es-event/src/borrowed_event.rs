//! Writes the JSON text of an event, either from memory or from a database row.

use super::{Dialect, Hash, RecordedEvent, hash::decimal_digits};

/// The members of an event as bytes. The writer escapes only the source and the trace; it copies
/// everything else.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct BorrowedEvent<'a> {
    /// The event id.
    pub id: u64,
    /// The source.
    pub source: &'a str,
    /// The subject, in UTF-8.
    pub subject: &'a [u8],
    /// The event type, in UTF-8.
    pub event_type: &'a [u8],
    /// The `traceparent` and the optional `tracestate`.
    pub trace: Option<(&'a str, Option<&'a str>)>,
    /// The time of the append, as RFC 3339.
    pub time: &'a [u8],
    /// The hash of the event before this one.
    pub predecessor_hash: Hash,
    /// The hash of the event.
    pub hash: Hash,
    /// The data, as compact JSON.
    pub data: &'a [u8],
}

/// The form of an event on a line of its own.
///
/// ```
/// use es_event::{Dialect, LineFormat};
///
/// assert_ne!(LineFormat::Stream(Dialect::Item), LineFormat::Backup);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFormat {
    /// An unsigned stream line of version 1 of the API.
    Stream(Dialect),
    /// An unsigned stream line of version 2 of the API.
    Envelope,
    /// A line of a backup.
    Backup,
}

impl<'a> BorrowedEvent<'a> {
    /// Borrows the members of an event.
    pub fn from_recorded(event: &'a RecordedEvent) -> Self {
        let trace = event.trace.as_ref();
        Self {
            id: event.id.get(),
            source: &event.source,
            subject: event.subject.as_str().as_bytes(),
            event_type: event.event_type.as_str().as_bytes(),
            trace: trace.map(|trace| (trace.parent(), trace.state())),
            time: event.time.as_str().as_bytes(),
            predecessor_hash: event.predecessor_hash,
            hash: event.hash,
            data: event.data.get().as_bytes(),
        }
    }

    /// Appends the event as a line, with the line break.
    pub fn append_line(&self, shape: LineFormat, out: &mut Vec<u8>) {
        match shape {
            LineFormat::Stream(dialect) => self.write_line(dialect, None, out),
            LineFormat::Envelope => self.write_envelope_line(None, out),
            LineFormat::Backup => self.write_backup_line(out),
        }
    }

    pub(super) fn write_line(&self, dialect: Dialect, signature: Option<&str>, out: &mut Vec<u8>) {
        match dialect {
            Dialect::Item => {
                out.extend_from_slice(br#"{"type":"item","payload":"#);
                self.write_item(out);
            }
            Dialect::Event => {
                out.extend_from_slice(br#"{"type":"event","payload":"#);
                self.write_signed(signature, out);
                out.extend_from_slice(b"}\n");
            }
        }
    }

    /// Appends the event as a line of version 2 of the API. Version 2 sends a missing trace as `null`.
    pub(super) fn write_envelope_line(&self, signature: Option<&str>, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"type":"event","data":"#);
        self.write_identity(out);
        let (parent, state) = match self.trace {
            Some((parent, state)) => (Some(parent), state),
            None => (None, None),
        };
        out.extend_from_slice(br#","traceparent":"#);
        write_optional(parent, out);
        out.extend_from_slice(br#","tracestate":"#);
        write_optional(state, out);
        self.write_record(out);
        self.write_data(out);
        self.write_signature(signature, out);
        out.extend_from_slice(b"}\n");
    }

    /// Combines the type of the dialect `Event` with the payload of the dialect `Item`.
    pub(super) fn write_backup_line(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"type":"event","payload":"#);
        self.write_item(out);
    }

    /// Appends the event with its hash as a sibling, and closes the line.
    fn write_item(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"event":"#);
        self.write_members(out);
        self.write_data(out);
        out.extend_from_slice(br#"},"hash":""#);
        self.hash.encode_into(out);
        out.extend_from_slice(b"\"}}\n");
    }

    pub(super) fn write_signed(&self, signature: Option<&str>, out: &mut Vec<u8>) {
        self.write_members(out);
        self.write_data(out);
        self.write_signature(signature, out);
    }

    /// Appends hash and signature, and closes the event.
    fn write_signature(&self, signature: Option<&str>, out: &mut Vec<u8>) {
        out.extend_from_slice(br#","hash":""#);
        self.hash.encode_into(out);
        out.extend_from_slice(br#"","signature":"#);
        write_optional(signature, out);
        out.push(b'}');
    }

    pub(super) fn write_without_data(&self, out: &mut Vec<u8>) {
        self.write_members(out);
        out.push(b'}');
    }

    /// Appends the members that all forms of version 1 share, without the closing brace.
    fn write_members(&self, out: &mut Vec<u8>) {
        self.write_identity(out);
        if let Some((parent, state)) = self.trace {
            out.extend_from_slice(br#","traceparent":"#);
            write_text(parent, out);
            if let Some(state) = state {
                out.extend_from_slice(br#","tracestate":"#);
                write_text(state, out);
            }
        }
        self.write_record(out);
    }

    /// Appends the opening brace, source, subject and type.
    fn write_identity(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"source":"#);
        write_text(self.source, out);
        // Subjects, types, times and hashes contain no character that JSON escapes.
        out.extend_from_slice(br#","subject":""#);
        out.extend_from_slice(self.subject);
        out.extend_from_slice(br#"","type":""#);
        out.extend_from_slice(self.event_type);
        out.push(b'"');
    }

    /// Appends the members that the store adds, up to the predecessor hash.
    fn write_record(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#","specversion":"1.0","id":""#);
        out.extend_from_slice(decimal_digits(self.id).as_bytes());
        out.extend_from_slice(br#"","time":""#);
        out.extend_from_slice(self.time);
        out.extend_from_slice(br#"","datacontenttype":"application/json","predecessorhash":""#);
        self.predecessor_hash.encode_into(out);
        out.push(b'"');
    }

    fn write_data(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(self.data);
    }
}

fn write_optional(text: Option<&str>, out: &mut Vec<u8>) {
    match text {
        Some(text) => write_text(text, out),
        None => out.extend_from_slice(b"null"),
    }
}

/// Copies the string if nothing needs escaping. Checking first is much faster than serializing.
fn write_text(text: &str, out: &mut Vec<u8>) {
    let plain = |byte: &u8| (*byte >= b' ') & (*byte != b'"') & (*byte != b'\\');
    if text
        .as_bytes()
        .iter()
        .fold(true, |all, byte| all & plain(byte))
    {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(out, text);
    }
}
