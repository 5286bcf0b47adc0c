//! A streamed body cut into lines, each of bounded length.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use tokio::time::timeout;

use super::connection::Connection;
use crate::store::StoreError;

/// The lines of one answer. The next piece of the body is taken only once its lines are used up,
/// so that a slow reader slows the server down.
pub(super) struct Lines {
    answer: Response,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line break.
    searched: usize,
    silence: Duration,
}

impl Lines {
    pub(super) fn new(answer: Response, silence: Duration) -> Self {
        Self {
            answer,
            buffer: BytesMut::new(),
            searched: 0,
            silence,
        }
    }

    /// The next line without its line break, or `None` at the end of the body.
    pub(super) async fn next(&mut self, from: &Connection) -> Result<Option<Bytes>, StoreError> {
        loop {
            if let Some(line) = self.buffered() {
                return Ok(Some(line));
            }
            if self.buffer.len() > from.settings.line_limit {
                let limit = from.settings.line_limit;
                return Err(from.corrupt(format!("a line is longer than {limit} bytes")));
            }
            let chunk = timeout(self.silence, self.answer.chunk()).await;
            let chunk = chunk
                .map_err(|_| from.unavailable(format!("it was silent for {:?}", self.silence)))?;
            match chunk {
                Ok(Some(chunk)) => self.buffer.extend_from_slice(&chunk),
                Ok(None) if self.buffer.is_empty() => return Ok(None),
                Ok(None) => return Err(from.unavailable("the stream ended within a line")),
                Err(error) => {
                    let reason = from.describe(error);
                    return Err(from.unavailable(format!("the stream broke off: {reason}")));
                }
            }
        }
    }

    fn buffered(&mut self) -> Option<Bytes> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(length) = memchr::memchr(b'\n', unsearched) else {
            self.searched = self.buffer.len();
            return None;
        };
        let length = self.searched.saturating_add(length);
        self.searched = 0;
        let mut line = self.buffer.split_to(length.saturating_add(1));
        line.truncate(length);
        Some(line.freeze())
    }
}
