//! Splits a streamed body into lines of limited length.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use tokio::time::timeout;

use super::http_client::StoreHttpClient;
use es_store::StoreError;

/// Reads the lines of one response. It reads the next chunk only after the lines of the last one, so that
/// a slow reader slows the server down.
pub(super) struct LineReader {
    response: Response,
    /// The unread rest of the last chunk. Its lines are not copied.
    chunk: Bytes,
    /// The start of a line that continues in the next chunk.
    partial_line: BytesMut,
    silence: Duration,
}

impl LineReader {
    pub(super) fn new(response: Response, silence: Duration) -> Self {
        Self {
            response,
            chunk: Bytes::new(),
            partial_line: BytesMut::new(),
            silence,
        }
    }

    /// Returns the next line that is not blank, without its line break, or `None` at the end of the body.
    pub(super) async fn next_line(
        &mut self,
        from: &StoreHttpClient,
    ) -> Result<Option<Bytes>, StoreError> {
        loop {
            while let Some(line) = self.take_buffered_line() {
                if !line.trim_ascii().is_empty() {
                    return Ok(Some(line));
                }
            }
            if self.partial_line.len() > from.settings.line_limit {
                let limit = from.settings.line_limit;
                return Err(from.corrupt(format!("a line is longer than {limit} bytes")));
            }
            let received = timeout(self.silence, self.response.chunk()).await;
            let chunk = received
                .map_err(|_| from.unavailable(format!("it sent nothing for {:?}", self.silence)))?;
            match chunk {
                Ok(Some(chunk)) => self.chunk = chunk,
                Ok(None) if self.partial_line.is_empty() => return Ok(None),
                Ok(None) => return Err(from.unavailable("the stream ended within a line")),
                Err(error) => {
                    let reason = from.describe_error(error);
                    return Err(from.unavailable(format!("the stream broke off: {reason}")));
                }
            }
        }
    }

    fn take_buffered_line(&mut self) -> Option<Bytes> {
        let Some(length) = memchr::memchr(b'\n', &self.chunk) else {
            self.partial_line.extend_from_slice(&self.chunk);
            self.chunk.clear();
            return None;
        };
        let mut line = self.chunk.split_to(length.saturating_add(1));
        line.truncate(length);
        if self.partial_line.is_empty() {
            return Some(line);
        }
        self.partial_line.extend_from_slice(&line);
        Some(self.partial_line.split().freeze())
    }
}
