//! Renders rows as lines of the protocol without decoding events. Values were checked when they were
//! written, and the checksum of a row shows that they are the same.

use rusqlite::Row;

use super::{
    database_error::SqliteError,
    row::{self, RowDecoder},
    row_checksum::{self, CheckedRow},
};
use es_event::{BorrowedEvent, LineFormat, TraceContext};
use es_store::event_row::parse_hash;

/// Renders rows as lines.
#[derive(Debug)]
pub(super) struct LineRenderer {
    shape: LineFormat,
    /// Decodes the rows that are not as usual, or reports what is wrong with them.
    decoder: RowDecoder,
}

impl LineRenderer {
    pub(super) fn new(shape: LineFormat) -> Self {
        Self {
            shape,
            decoder: RowDecoder::default(),
        }
    }

    /// Appends a row as a line.
    pub(super) fn render_row(
        &mut self,
        row: &Row<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SqliteError> {
        let row = row_checksum::read_checked(row)?;
        if let Some(event) = borrow_event(&row) {
            event.append_line(self.shape, out);
        } else {
            let event = self.decoder.decode_row(&row)?;
            BorrowedEvent::from_recorded(&event).append_line(self.shape, out);
        }
        Ok(())
    }
}

/// Borrows the members of an event from its row. Returns `None` if the row has to be decoded.
fn borrow_event<'a>(checked: &CheckedRow<'a>) -> Option<BorrowedEvent<'a>> {
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
    ] = checked.row.columns;
    let optional = |text: Option<&'a [u8]>| text.map(std::str::from_utf8).transpose().ok();
    let is_usual = checked.has_checksum && is_line(data?);
    is_usual.then_some(BorrowedEvent {
        id: row::to_event_id(checked.row.id).ok()?.get(),
        subject: subject?,
        event_type: event_type?,
        source: std::str::from_utf8(source?).ok()?,
        time: time?,
        trace: TraceContext::check_fields(optional(parent)?, optional(state)?).ok()?,
        predecessor_hash: parse_hash(predecessor_hash?)?,
        hash: parse_hash(hash?)?,
        data: data?,
    })
}

/// Returns true if data has no line break. The data of clients is compact, but an application that appends to
/// the store itself can append data with line breaks.
fn is_line(data: &[u8]) -> bool {
    // The loop has no branches, so that the compiler can use vector instructions.
    data.iter()
        .fold(true, |is_line, byte| is_line & (*byte >= b' '))
}
