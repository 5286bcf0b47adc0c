//! The lines of version 2: `{"type":…,"data":…}`.

use std::{pin::Pin, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use tokio::time::sleep;

use super::api_error::ApiError;

/// The last line of every stream that ends without an error.
pub(super) const END_LINE: &[u8] = b"{\"type\":\"end\",\"data\":{}}\n";

/// The line of an idle stream.
pub(super) const HEARTBEAT_ENVELOPE: &[u8] = b"{\"type\":\"heartbeat\",\"data\":{}}\n";

/// Appends one line.
pub(super) fn write_envelope<T: Serialize>(kind: &'static str, data: &T, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct V2EventLine<'a, T> {
        r#type: &'static str,
        data: &'a T,
    }
    // Writing plain values to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, &V2EventLine { r#type: kind, data });
    out.push(b'\n');
}

/// Appends the line of an error.
pub(super) fn write_error(error: &ApiError, out: &mut Vec<u8>) {
    write_envelope("error", &error.payload(), out);
}

/// Adds a heartbeat whenever the stream is idle for this time.
pub(super) fn with_heartbeats<E: Send + 'static>(
    frames: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    heartbeat: Duration,
) -> impl Stream<Item = Result<Bytes, E>> + Send + 'static {
    let frames: Pin<Box<dyn Stream<Item = _> + Send>> = Box::pin(frames);
    stream::unfold(frames, move |mut frames| async move {
        let frame = tokio::select! {
            biased;
            frame = frames.next() => frame?,
            () = sleep(heartbeat) => Ok(Bytes::from_static(HEARTBEAT_ENVELOPE)),
        };
        Some((frame, frames))
    })
}
