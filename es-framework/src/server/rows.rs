//! Streams of anything but events: a JSON object a line, written as the client takes them.

use std::convert::Infallible;

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::{Stream, StreamExt as _};
use serde::Serialize;

use super::lines::{NDJSON, write_error};
use crate::store::StoreError;

/// How many rows share a frame, if they are there already.
const ROWS: usize = 512;

/// `{"type":"<kind>","payload":…}` for each element, and a line for the error that ends it.
pub(super) fn rows<T: Serialize + Send + 'static>(
    kind: &'static str,
    elements: impl Stream<Item = Result<T, StoreError>> + Send + 'static,
) -> Response {
    let frames = elements.ready_chunks(ROWS).map(move |elements| {
        let mut frame = Vec::new();
        for element in elements {
            match element {
                Ok(payload) => write_row(kind, &payload, &mut frame),
                Err(error) => {
                    tracing::error!(%error, "a stream broke off");
                    write_error(&error.to_string(), &mut frame);
                }
            }
        }
        Ok::<_, Infallible>(frame)
    });
    ndjson(frames)
}

/// An answer of lines that are made already.
pub(super) fn ndjson<B: Into<bytes::Bytes> + 'static>(
    frames: impl Stream<Item = Result<B, Infallible>> + Send + 'static,
) -> Response {
    ([(header::CONTENT_TYPE, NDJSON)], Body::from_stream(frames)).into_response()
}

/// Appends one line.
pub(super) fn write_row<T: Serialize>(kind: &'static str, payload: &T, frame: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Row<'a, T> {
        r#type: &'static str,
        payload: &'a T,
    }
    let start = frame.len();
    let row = Row {
        r#type: kind,
        payload,
    };
    match serde_json::to_writer(&mut *frame, &row) {
        Ok(()) => frame.push(b'\n'),
        Err(error) => {
            frame.truncate(start);
            write_error(&error.to_string(), frame);
        }
    }
}
