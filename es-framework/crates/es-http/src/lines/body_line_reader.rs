//! Reads the lines of a request's body, one at a time and only when the next one is asked for.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::{Problem, RequestLimits};

/// While a reader is not asked for lines, its time runs on. So it looks once more whether bytes have arrived.
const GRACE: Duration = Duration::from_secs(1);

/// The lines of a body. At most one line and one chunk of the body are in memory.
pub(super) struct BodyLineReader {
    body: BodyDataStream,
    buffer: BytesMut,
    /// The number of bytes at the begin of the buffer that have no line break.
    searched: usize,
    state: ReaderState,
    /// The number of the last line that was returned.
    number: u64,
    limits: RequestLimits,
}

/// A line that is not blank.
pub(super) struct Line {
    /// The number of the line. The first line is 1.
    pub(super) number: u64,
    /// The text of the line, or the reason why the body cannot be read on.
    pub(super) text: Result<Bytes, Problem>,
}

#[derive(PartialEq)]
enum ReaderState {
    /// The client may send more.
    Open,
    /// The client has sent the whole body.
    Complete,
    /// No further line is read, whatever the client sends.
    Stopped,
}

impl BodyLineReader {
    pub(super) fn new(body: Body, limits: RequestLimits) -> Self {
        Self {
            body: body.into_data_stream(),
            buffer: BytesMut::new(),
            searched: 0,
            state: ReaderState::Open,
            number: 0,
            limits,
        }
    }

    /// Returns the next line that is not blank, or `None` after the last one. A client that goes away in the middle of a
    /// line leaves no line behind.
    pub(super) async fn next_line(&mut self) -> Option<Line> {
        loop {
            if self.state == ReaderState::Stopped {
                self.discard_rest().await;
                return None;
            }
            let text = match self.take_line() {
                Some(line) => Ok(line),
                None if self.state == ReaderState::Complete => return None,
                None if self.buffer.len() > self.limits.body_size => self.refuse_long_line(),
                None => match self.receive().await {
                    Ok(()) => continue,
                    Err(problem) => Err(problem),
                },
            };
            self.number = self.number.saturating_add(1);
            let number = self.number;
            match text {
                Ok(line) if line.trim_ascii().is_empty() => {}
                Ok(line) if line.len() > self.limits.body_size => {
                    let text = self.refuse_long_line();
                    return Some(Line { number, text });
                }
                text => return Some(Line { number, text }),
            }
        }
    }

    /// Reads no further line.
    pub(super) fn stop(&mut self) {
        self.state = ReaderState::Stopped;
    }

    /// Takes the next line from the buffer. The last line of a body needs no line break.
    fn take_line(&mut self) -> Option<Bytes> {
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        if let Some(place) = rest.iter().position(|&byte| byte == b'\n') {
            let line = self.buffer.split_to(self.searched.saturating_add(place));
            let _line_break = self.buffer.split_to(1);
            self.searched = 0;
            return Some(line.freeze());
        }
        self.searched = self.buffer.len();
        if self.state != ReaderState::Complete || self.buffer.is_empty() {
            return None;
        }
        self.searched = 0;
        Some(self.buffer.split().freeze())
    }

    fn refuse_long_line(&mut self) -> Result<Bytes, Problem> {
        self.stop();
        Err(Problem::too_large(self.limits.body_size))
    }

    /// Receives the next bytes, or the end of the body.
    async fn receive(&mut self) -> Result<(), Problem> {
        let mut received = timeout(self.limits.body_time, self.body.next()).await;
        if received.is_err() {
            received = timeout(GRACE, self.body.next()).await;
        }
        match received {
            Ok(Some(Ok(bytes))) => self.buffer.extend_from_slice(&bytes),
            Ok(None) => self.state = ReaderState::Complete,
            Ok(Some(Err(_))) => {
                self.buffer.clear();
                self.state = ReaderState::Complete;
            }
            Err(_) => {
                self.buffer.clear();
                self.state = ReaderState::Complete;
                return Err(Problem::too_slow());
            }
        }
        Ok(())
    }

    /// Receives the rest of the body for some time. A connection that closes with unread bytes loses the answers that its
    /// client has not read.
    async fn discard_rest(&mut self) {
        let body = &mut self.body;
        let rest = async { while let Some(Ok(_)) = body.next().await {} };
        // After this time, the connection closes.
        let _ = timeout(self.limits.body_time, rest).await;
    }
}
