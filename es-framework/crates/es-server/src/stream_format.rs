//! The lines of streams in each version of the API.

use std::{convert::Infallible, time::Duration};

use axum::{BoxError, response::Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use serde::Serialize;

use super::{
    domain_error::DomainError,
    envelope::{END_LINE, HEARTBEAT_ENVELOPE, with_heartbeats, write_envelope, write_error},
    ndjson::{HEARTBEAT_LINE, ndjson_response, write_error_line, write_row},
    server_settings::ServerSettings,
};
use es_event::{Dialect, LineFormat, RecordedEvent};
use es_store::StoreError;

/// The version of the API in which a stream is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamFormat {
    /// Version 1 in a dialect. Its streams just end.
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
                let signature = settings.sign(event, dialect);
                dialect.write_line(event, signature.as_deref(), out);
            }
            Self::V2 => {
                let signature = settings.sign(event, Dialect::Event);
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
            Self::V2 => write_error(&error.into(), out),
        }
    }

    /// Returns the end of an observation when the server shuts down.
    pub(super) fn encode_shutdown(self) -> Result<Bytes, ServerShutdownError> {
        match self {
            Self::V1(_) => Err(ServerShutdownError),
            Self::V2 => {
                let mut line = Vec::new();
                write_error(&DomainError::for_shutdown(), &mut line);
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

    /// Creates a response with a line for each element. An error is the last line.
    pub(super) fn rows_response<T: Serialize + Send + 'static>(
        self,
        kind: &'static str,
        elements: impl Stream<Item = Result<T, StoreError>> + Send + 'static,
        settings: &ServerSettings,
    ) -> Response {
        let frames = elements
            .map(Some)
            .chain(futures_util::stream::iter([None]))
            .ready_chunks(ROWS_PER_FRAME)
            .scan(false, move |has_failed, elements| {
                let frame = (!*has_failed).then(|| self.frame(kind, elements, has_failed));
                std::future::ready(frame.map(Ok::<_, Infallible>))
            });
        self.finite_response(frames, settings.heartbeat)
    }

    /// Writes the lines of some elements, up to the first error. `None` is the end.
    fn frame<T: Serialize>(
        self,
        kind: &'static str,
        elements: Vec<Option<Result<T, StoreError>>>,
        has_failed: &mut bool,
    ) -> Bytes {
        let mut frame = Vec::new();
        for element in elements {
            match element {
                Some(Ok(row)) => self.write_row(kind, &row, &mut frame),
                Some(Err(error)) => {
                    self.write_failure(&error, &mut frame);
                    *has_failed = true;
                    break;
                }
                None => frame.extend_from_slice(self.end()),
            }
        }
        frame.into()
    }
}

/// The number of rows that share a frame if they are ready.
const ROWS_PER_FRAME: usize = 512;
