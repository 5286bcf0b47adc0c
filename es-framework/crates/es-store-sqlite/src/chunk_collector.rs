//! Collectors of chunks: they turn rows into events, or into the lines of the protocol.

use rusqlite::Row;

use super::{
    database_error::SqliteError, line_renderer::LineRenderer, row::RowDecoder,
    store_settings::ChunkLimits,
};
use es_event::{LineFormat, RecordedEvent};

/// Collects rows into a chunk until the chunk is full.
pub(super) trait ChunkCollector {
    type Output;

    /// Makes room for this number of rows.
    fn reserve(&mut self, rows: usize);

    fn push(&mut self, row: &Row<'_>) -> Result<(), SqliteError>;

    fn len(&self) -> usize;

    fn is_full(&self) -> bool;

    fn finish(self) -> Self::Output;
}

/// Collects a chunk of events.
pub(super) struct EventChunkCollector {
    decoder: RowDecoder,
    events: Vec<RecordedEvent>,
    bytes: usize,
    most: usize,
    most_bytes: usize,
}

impl EventChunkCollector {
    /// Creates a collector of at most `most` events.
    pub(super) fn new(most: usize, limits: ChunkLimits) -> Self {
        Self {
            decoder: RowDecoder::default(),
            events: Vec::new(),
            bytes: 0,
            most,
            most_bytes: limits.bytes,
        }
    }
}

impl ChunkCollector for EventChunkCollector {
    type Output = Vec<RecordedEvent>;

    fn reserve(&mut self, rows: usize) {
        self.events.reserve(rows.min(self.most));
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), SqliteError> {
        let event = self.decoder.check_and_decode(row)?;
        self.bytes = self.bytes.saturating_add(event.data.get().len());
        self.events.push(event);
        Ok(())
    }

    fn len(&self) -> usize {
        self.events.len()
    }

    fn is_full(&self) -> bool {
        self.events.len() >= self.most || self.bytes >= self.most_bytes
    }

    fn finish(self) -> Vec<RecordedEvent> {
        self.events
    }
}

/// Collects a chunk of lines.
pub(super) struct LineChunkCollector {
    renderer: LineRenderer,
    lines: Vec<u8>,
    count: usize,
    most: usize,
    most_bytes: usize,
}

/// The typical length of a line, in bytes.
const LINE_LENGTH: usize = 1 << 10;

impl LineChunkCollector {
    /// Creates a collector of at most `most` lines.
    pub(super) fn new(most: usize, shape: LineFormat, limits: ChunkLimits) -> Self {
        Self {
            renderer: LineRenderer::new(shape),
            lines: Vec::new(),
            count: 0,
            most,
            most_bytes: limits.frame,
        }
    }
}

impl ChunkCollector for LineChunkCollector {
    type Output = Vec<u8>;

    fn reserve(&mut self, rows: usize) {
        // A frame that grows step by step would be copied several times.
        let length = rows.min(self.most).saturating_mul(LINE_LENGTH);
        self.lines.reserve(length.min(self.most_bytes));
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), SqliteError> {
        self.count = self.count.saturating_add(1);
        self.renderer.render_row(row, &mut self.lines)
    }

    fn len(&self) -> usize {
        self.count
    }

    fn is_full(&self) -> bool {
        self.count >= self.most || self.lines.len() >= self.most_bytes
    }

    fn finish(self) -> Vec<u8> {
        self.lines
    }
}
