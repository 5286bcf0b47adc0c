//! Sends each line of a stream in an HTTP chunk of its own, unless the client accepts batches of lines.
//!
//! The PHP client takes each chunk for exactly one line.

use std::iter;

use axum::{
    body::Body,
    http::{HeaderMap, header},
    response::Response,
};
use bytes::Bytes;
use es_event::LINE_BATCHES_HEADER;
use futures_util::{TryStreamExt as _, stream};

use super::ndjson::NDJSON;

/// Splits the frames of a streamed response into lines.
pub(super) fn with_line_chunks(response: Response) -> Response {
    if response.headers().get(header::CONTENT_TYPE) != Some(&NDJSON) {
        return response;
    }
    response.map(|body| {
        let chunks = body
            .into_data_stream()
            .map_ok(|frame| stream::iter(lines(frame).map(Ok::<_, axum::Error>)))
            .try_flatten();
        Body::from_stream(chunks)
    })
}

/// Returns true if the client accepts several lines in one chunk.
pub(super) fn accepts_batches(headers: &HeaderMap) -> bool {
    headers
        .get(LINE_BATCHES_HEADER)
        .is_some_and(|value| value == "true")
}

/// Returns the lines of a frame with their line breaks, without copying them.
fn lines(mut frame: Bytes) -> impl Iterator<Item = Bytes> {
    iter::from_fn(move || {
        let line_break = memchr::memchr(b'\n', &frame);
        let length = line_break.map_or(frame.len(), |index| index.saturating_add(1));
        (length > 0).then(|| frame.split_to(length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_split_after_each_line_break() {
        for (frame, expected) in [
            ("", &[][..]),
            ("a\n", &["a\n"]),
            ("a\nbc\n", &["a\n", "bc\n"]),
            ("a\nbc", &["a\n", "bc"]),
            ("\n\n", &["\n", "\n"]),
        ] {
            let lines: Vec<_> = lines(Bytes::from(frame)).collect();
            assert_eq!(lines, expected, "{frame:?}");
        }
    }
}
