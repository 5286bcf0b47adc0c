//! What the rows of a chunk become: events, or the lines that events would be written as.

use rusqlite::Row;

use super::{error::DiskError, line::Renderer, row::Decoder, settings::ChunkLimits};
use crate::event::{LineShape, RecordedEvent};

/// Takes the rows of a chunk until it is full.
pub(super) trait Gather {
    type Events;

    fn take(&mut self, row: &Row<'_>) -> Result<(), DiskError>;

    fn count(&self) -> usize;

    fn is_full(&self) -> bool;

    fn into_events(self) -> Self::Events;
}

/// Rows as events.
pub(super) struct Events {
    decoder: Decoder,
    events: Vec<RecordedEvent>,
    bytes: usize,
    most: usize,
    most_bytes: usize,
}

impl Events {
    /// At most `most` events.
    pub(super) fn new(most: usize, limits: ChunkLimits) -> Self {
        Self {
            decoder: Decoder::default(),
            events: Vec::new(),
            bytes: 0,
            most,
            most_bytes: limits.bytes,
        }
    }
}

impl Gather for Events {
    type Events = Vec<RecordedEvent>;

    fn take(&mut self, row: &Row<'_>) -> Result<(), DiskError> {
        let event = self.decoder.event(row)?;
        self.bytes = self.bytes.saturating_add(event.data.get().len());
        self.events.push(event);
        Ok(())
    }

    fn count(&self) -> usize {
        self.events.len()
    }

    fn is_full(&self) -> bool {
        self.events.len() >= self.most || self.bytes >= self.most_bytes
    }

    fn into_events(self) -> Vec<RecordedEvent> {
        self.events
    }
}

/// Rows as lines.
pub(super) struct Lines {
    renderer: Renderer,
    lines: Vec<u8>,
    count: usize,
    most: usize,
    most_bytes: usize,
}

/// About how long a line is.
const LINE: usize = 1 << 10;

impl Lines {
    /// At most `most` lines.
    pub(super) fn new(most: usize, shape: LineShape, limits: ChunkLimits) -> Self {
        let most_bytes = limits.frame;
        // At once: a frame that grows bit by bit is copied several times.
        let room = most.saturating_mul(LINE).min(most_bytes);
        Self {
            renderer: Renderer::new(shape),
            lines: Vec::with_capacity(room.saturating_add(LINE)),
            count: 0,
            most,
            most_bytes,
        }
    }
}

impl Gather for Lines {
    type Events = Vec<u8>;

    fn take(&mut self, row: &Row<'_>) -> Result<(), DiskError> {
        self.count = self.count.saturating_add(1);
        self.renderer.line(row, &mut self.lines)
    }

    fn count(&self) -> usize {
        self.count
    }

    fn is_full(&self) -> bool {
        self.count >= self.most || self.lines.len() >= self.most_bytes
    }

    fn into_events(self) -> Vec<u8> {
        self.lines
    }
}
