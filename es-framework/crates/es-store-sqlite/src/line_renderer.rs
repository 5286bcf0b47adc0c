//! Renders rows as lines of the protocol without decoding events. Values were checked when they were
//! written, so only those checks are made here that keep a broken row from breaking its line.

use rusqlite::{Row, types::ValueRef};

use super::{
    row::{self, RowDecoder},
    row_checksum,
    store_file_error::StoreFileError,
    stored_hash,
};
use es_event::{EventType, LineFormat, RawEvent, Subject, TraceContext};

/// Renders rows as lines.
#[derive(Debug)]
pub(super) struct LineRenderer {
    shape: LineFormat,
    /// Decodes the rows that are not as usual, or reports what is wrong with them.
    decoder: RowDecoder,
    /// The last event type and the last time that passed their checks. Neighbours often share them.
    event_type: Vec<u8>,
    time: Vec<u8>,
}

impl LineRenderer {
    pub(super) fn new(shape: LineFormat) -> Self {
        Self {
            shape,
            decoder: RowDecoder::default(),
            event_type: Vec::new(),
            time: Vec::new(),
        }
    }

    /// Appends a row as a line.
    pub(super) fn render(
        &mut self,
        row: &Row<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreFileError> {
        let has_checksum = row_checksum::check(row)?;
        let parts = parts(row).filter(|_| has_checksum);
        if let Some(parts) = parts.filter(|parts| self.is_usual(parts)) {
            parts.append_line(self.shape, out);
        } else {
            let event = self.decoder.event(row)?;
            RawEvent::from_recorded(&event).append_line(self.shape, out);
        }
        Ok(())
    }

    fn is_usual(&mut self, parts: &RawEvent<'_>) -> bool {
        Subject::looks_like_subject(parts.subject)
            && is_valid(&mut self.event_type, parts.event_type, is_type)
            && is_valid(&mut self.time, parts.time, is_time)
            && is_object(parts.data)
    }
}

/// Returns true if a value equals the last one or passes a check.
fn is_valid(last: &mut Vec<u8>, value: &[u8], check: impl FnOnce(&[u8]) -> bool) -> bool {
    if last.as_slice() == value {
        return true;
    }
    let passes = check(value);
    if passes {
        last.clear();
        last.extend_from_slice(value);
    }
    passes
}

fn is_type(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<EventType>().is_ok())
}

/// Reads the columns of a row, in the order of [`select`](row::select); `None` if one has another type.
fn parts<'a>(row: &'a Row<'_>) -> Option<RawEvent<'a>> {
    let bytes = |index| match row.get_ref(index) {
        Ok(ValueRef::Text(text)) => Some(text),
        _ => None,
    };
    let text = |index| std::str::from_utf8(bytes(index)?).ok();
    let optional = |index| match row.get_ref(index) {
        Ok(ValueRef::Null) => Some(None),
        _ => text(index).map(Some),
    };
    let hash = |index| match row.get_ref(index) {
        Ok(ValueRef::Blob(blob)) => stored_hash::parse(blob),
        _ => None,
    };
    Some(RawEvent {
        id: row::id(row.get(0).ok()?).ok()?.get(),
        subject: bytes(1)?,
        event_type: bytes(2)?,
        source: text(3)?,
        time: bytes(4)?,
        trace: TraceContext::check(optional(5)?, optional(6)?).ok()?,
        predecessor_hash: hash(7)?,
        hash: hash(8)?,
        data: bytes(9)?,
    })
}

/// Returns true if a text has the form of the times that this store writes.
fn is_time(text: &[u8]) -> bool {
    const SHAPE: &[u8; 30] = b"0000-00-00T00:00:00.000000000Z";
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() == SHAPE.len() && text.iter().zip(SHAPE).all(fits)
}

/// Returns true if stored data still looks like a JSON object on one line.
fn is_object(data: &[u8]) -> bool {
    // The loop has no branches, so that the compiler can use vector instructions.
    let (mut is_plain, mut is_ascii) = (true, true);
    for byte in data {
        is_plain &= *byte >= b' ';
        is_ascii &= byte.is_ascii();
    }
    let has_ends = data.len() > 1 && data.first() == Some(&b'{') && data.last() == Some(&b'}');
    has_ends && is_plain && (is_ascii || std::str::from_utf8(data).is_ok())
}
