//! The lines of streams in each version of the API.

use std::{convert::Infallible, ops::ControlFlow, time::Duration};

use axum::{BoxError, response::Response};
use bytes::Bytes;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use serde::Serialize;

use super::{
    api_error::ApiError,
    envelope::{END_LINE, HEARTBEAT_ENVELOPE, with_heartbeats, write_envelope, write_error},
    ndjson::{FRAME_SIZE, HEARTBEAT_LINE, ndjson_response, write_error_line, write_row},
    server_settings::ServerSettings,
};
use es_event::{Dialect, LineFormat, RecordedEvent};
use es_store::StoreError;

/// The version of the API in which a stream is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamFormat {
    /// Version 1 in a dialect. Streams have no last line, but observers receive heartbeats, and a stream that
    /// breaks off has a line with the error.
    V1(Dialect),
    /// Version 2. Its streams have heartbeats and a last line that says how they ended.
    V2,
}

/// Closes the connection of an observer. Version 1 has no error line for it: OpenCQRS stops its
/// projections for good after an error line, and connects again after a closed connection.
#[derive(Debug, thiserror::Error)]
#[error("the server is shutting down")]
pub(super) struct ServerShutdownError;

impl StreamFormat {
    /// The line of an idle stream.
    pub(super) const fn heartbeat(self) -> &'static [u8] {
        match self {
            Self::V1(_) => HEARTBEAT_LINE,
            Self::V2 => HEARTBEAT_ENVELOPE,
        }
    }

    /// The last line of a stream that ends without an error.
    pub(super) const fn end(self) -> &'static [u8] {
        match self {
            Self::V1(_) => b"",
            Self::V2 => END_LINE,
        }
    }

    /// Returns the form in which the store can encode events itself, or `None` if events need
    /// signatures.
    pub(super) fn unsigned_shape(self, settings: &ServerSettings) -> Option<LineFormat> {
        let is_signed = settings.signing_key.is_some() && self != Self::V1(Dialect::Item);
        (!is_signed).then_some(match self {
            Self::V1(dialect) => LineFormat::Stream(dialect),
            Self::V2 => LineFormat::Envelope,
        })
    }

    /// Appends the line of an event.
    pub(super) fn write_event(
        self,
        event: &RecordedEvent,
        settings: &ServerSettings,
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::V1(dialect) => {
                let signature = settings.signature_of(event, dialect);
                dialect.write_line(event, signature.as_deref(), out);
            }
            Self::V2 => {
                let signature = settings.signature_of(event, Dialect::Event);
                event.write_envelope_line(signature.as_deref(), out);
            }
        }
    }

    /// Appends a line of this kind.
    pub(super) fn write_row<T: Serialize>(self, kind: &'static str, row: &T, out: &mut Vec<u8>) {
        match self {
            Self::V1(_) => write_row(kind, row, out),
            Self::V2 => write_envelope(kind, row, out),
        }
    }

    /// Appends the error line of a stream that breaks off.
    pub(super) fn write_failure(self, error: &StoreError, out: &mut Vec<u8>) {
        tracing::error!(%error, "a stream broke off");
        match self {
            Self::V1(_) => write_error_line(&error.to_string(), out),
            Self::V2 => write_error(&ApiError::of_store(error), out),
        }
    }

    /// Returns the end of an observation when the server shuts down.
    pub(super) fn encode_shutdown(self) -> Result<Bytes, ServerShutdownError> {
        match self {
            Self::V1(_) => Err(ServerShutdownError),
            Self::V2 => {
                let mut line = Vec::new();
                write_error(&ApiError::shutdown(), &mut line);
                Ok(line.into())
            }
        }
    }

    /// Creates the response of a stream that ends. Version 1 has no heartbeats in it, because some
    /// clients reject them there.
    pub(super) fn finite_response<E: Into<BoxError> + Send + 'static>(
        self,
        frames: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
        heartbeat: Duration,
    ) -> Response {
        match self {
            Self::V1(_) => ndjson_response(frames),
            Self::V2 => ndjson_response(with_heartbeats(frames, heartbeat)),
        }
    }

    /// Creates a response with a line for each element. An error is the last line. Elements that are ready share a
    /// frame up to its size, because a slow client holds one frame in memory.
    pub(super) fn rows_response<T: Serialize + Send + 'static>(
        self,
        kind: &'static str,
        elements: impl Stream<Item = Result<T, StoreError>> + Send + 'static,
        settings: &ServerSettings,
    ) -> Response {
        let frames = stream::unfold(Some(elements.boxed()), move |elements| async move {
            let mut elements = elements?;
            let mut frame = Vec::new();
            let mut element = elements.next().await;
            while self.write_element(kind, element, &mut frame).is_continue() {
                if frame.len() >= FRAME_SIZE {
                    return Some((Ok::<_, Infallible>(frame.into()), Some(elements)));
                }
                match elements.next().now_or_never() {
                    Some(next) => element = next,
                    None => return Some((Ok(frame.into()), Some(elements))),
                }
            }
            Some((Ok(frame.into()), None))
        });
        self.finite_response(frames, settings.heartbeat)
    }

    /// Appends the line of an element. An error and `None` end the stream.
    fn write_element<T: Serialize>(
        self,
        kind: &'static str,
        element: Option<Result<T, StoreError>>,
        frame: &mut Vec<u8>,
    ) -> ControlFlow<()> {
        match element {
            Some(Ok(row)) => {
                self.write_row(kind, &row, frame);
                ControlFlow::Continue(())
            }
            Some(Err(error)) => {
                self.write_failure(&error, frame);
                ControlFlow::Break(())
            }
            None => {
                frame.extend_from_slice(self.end());
                ControlFlow::Break(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;

    use super::*;

    #[tokio::test]
    async fn large_rows_do_not_share_one_frame() {
        let row = "x".repeat(20_000);
        let settings = ServerSettings::new("secret-token".parse().unwrap());
        let rows = stream::iter((0..100).map(|_| Ok(row.clone())).collect::<Vec<_>>());
        let response = StreamFormat::V2.rows_response("row", rows, &settings);
        let frames = response.into_body().into_data_stream();
        let frames: Vec<Bytes> = frames.try_collect().await.unwrap();
        let lines: usize = frames
            .iter()
            .map(|frame| frame.iter().filter(|byte| **byte == b'\n').count())
            .sum();
        assert_eq!(lines, 101);
        let longest = frames.iter().map(Bytes::len).max().unwrap();
        assert!(
            (FRAME_SIZE..FRAME_SIZE + 21_000).contains(&longest),
            "{longest}"
        );
    }
}
