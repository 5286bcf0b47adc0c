//! Streamed responses: one JSON object per line, written as fast as the client reads.

use axum::{
    BoxError,
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::Stream;
use serde::Serialize;
use serde_json::json;

/// The size in bytes from which a frame is sent although more lines are ready. The line chunks of a
/// response are slices of its frames.
pub(super) const FRAME_SIZE: usize = 64 * 1024;

/// The content type of streamed responses.
pub(super) const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");

pub(super) const HEARTBEAT_LINE: &[u8] = b"{\"type\":\"heartbeat\",\"payload\":{}}\n";

/// Creates a response from frames of complete lines. An error closes the connection.
pub(super) fn ndjson_response<B: Into<Bytes> + 'static, E: Into<BoxError> + 'static>(
    frames: impl Stream<Item = Result<B, E>> + Send + 'static,
) -> Response {
    let headers = [(header::CONTENT_TYPE, NDJSON)];
    (headers, Body::from_stream(frames)).into_response()
}

/// Appends one line.
pub(super) fn write_row<T: Serialize>(kind: &'static str, payload: &T, frame: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct RowLine<'a, T> {
        r#type: &'static str,
        payload: &'a T,
    }
    let start = frame.len();
    let row = RowLine {
        r#type: kind,
        payload,
    };
    match serde_json::to_writer(&mut *frame, &row) {
        Ok(()) => frame.push(b'\n'),
        Err(error) => {
            frame.truncate(start);
            write_error_line(&error.to_string(), frame);
        }
    }
}

/// Appends a line with an error. The status of the response is already sent when a stream breaks off.
pub(super) fn write_error_line(text: &str, frame: &mut Vec<u8>) {
    let line = json!({"type": "error", "payload": {"error": text}});
    frame.extend_from_slice(line.to_string().as_bytes());
    frame.push(b'\n');
}
