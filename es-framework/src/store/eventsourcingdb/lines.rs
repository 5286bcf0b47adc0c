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
    /// The rest of the last piece: lines within it are not copied.
    piece: Bytes,
    /// The beginning of a line that goes on in the next piece.
    begun: BytesMut,
    silence: Duration,
}

impl Lines {
    pub(super) fn new(answer: Response, silence: Duration) -> Self {
        Self {
            answer,
            piece: Bytes::new(),
            begun: BytesMut::new(),
            silence,
        }
    }

    /// The next line without its line break, or `None` at the end of the body.
    pub(super) async fn next(&mut self, from: &Connection) -> Result<Option<Bytes>, StoreError> {
        loop {
            if let Some(line) = self.buffered() {
                return Ok(Some(line));
            }
            if self.begun.len() > from.settings.line_limit {
                let limit = from.settings.line_limit;
                return Err(from.corrupt(format!("a line is longer than {limit} bytes")));
            }
            let chunk = timeout(self.silence, self.answer.chunk()).await;
            let chunk = chunk
                .map_err(|_| from.unavailable(format!("it was silent for {:?}", self.silence)))?;
            match chunk {
                Ok(Some(chunk)) => self.piece = chunk,
                Ok(None) if self.begun.is_empty() => return Ok(None),
                Ok(None) => return Err(from.unavailable("the stream ended within a line")),
                Err(error) => {
                    let reason = from.describe(error);
                    return Err(from.unavailable(format!("the stream broke off: {reason}")));
                }
            }
        }
    }

    fn buffered(&mut self) -> Option<Bytes> {
        let Some(length) = memchr::memchr(b'\n', &self.piece) else {
            self.begun.extend_from_slice(&self.piece);
            self.piece.clear();
            return None;
        };
        let mut end = self.piece.split_to(length.saturating_add(1));
        end.truncate(length);
        if self.begun.is_empty() {
            return Some(end);
        }
        self.begun.extend_from_slice(&end);
        Some(self.begun.split().freeze())
    }
}
