//! Streams of events: one line per event, many lines per frame.

use std::{convert::Infallible, future::ready, ops::ControlFlow, sync::Arc, time::Duration};

use axum::response::Response;
use bytes::Bytes;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use tokio::{sync::OwnedSemaphorePermit, task::yield_now, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    ndjson::{FRAME_SIZE, ndjson_response},
    state::ServerState,
    stream_format::{ServerShutdownError, StreamFormat},
};
use es_event::{RecordedEvent, Subject};
use es_store::{EventStream, LineStream, ReadOptions, StoreError};

/// The events that are not sent yet, in frames. They are read from the store only as fast as the client reads
/// frames, so that a slow client holds one frame in memory.
struct EventFrames {
    server: Arc<ServerState>,
    format: StreamFormat,
    /// Encoded lines that precede the events.
    stored: Option<LineStream>,
    events: EventStream,
    client: Option<ObservingClient>,
    /// The capacity of the next frame, which is the length of the last one. A frame that grows step by step is
    /// copied several times.
    capacity: usize,
    has_ended: bool,
}

/// The heartbeat interval, the shutdown signal and the connection permit of an endless stream. A finite stream
/// has none.
struct ObservingClient {
    heartbeat: Duration,
    shutdown: CancellationToken,
    /// Released when the client disconnects.
    _permit: OwnedSemaphorePermit,
}

/// Creates a response with the stored events of a subject, which ends after the last one.
pub(super) fn stored_response(
    server: Arc<ServerState>,
    subject: Subject,
    options: ReadOptions,
    format: StreamFormat,
) -> Response {
    let heartbeat = server.settings.heartbeat;
    let shape = format.unsigned_shape(&server.settings);
    let encoded = shape.and_then(|shape| server.store.read_lines(&subject, &options, shape));
    if let Some(lines) = encoded {
        return format.finite_response(end_frames(lines, format), heartbeat);
    }
    let events = server.store.read(subject, options);
    let frames = EventFrames {
        server,
        format,
        stored: None,
        events,
        client: None,
        capacity: 0,
        has_ended: false,
    };
    format.finite_response(frames.into_stream(), heartbeat)
}

/// Creates a response with these encoded lines. An error of the store is the last line, and then breaks the
/// connection.
pub(super) fn breakable_response(lines: LineStream, format: StreamFormat) -> Response {
    let frames = lines.flat_map(move |frame| match frame {
        Ok(lines) => stream::iter([Ok(lines)]).boxed(),
        Err(error) => {
            let mut line = Vec::new();
            format.write_failure(&error, &mut line);
            let breaking = async {
                // Lets the connection send what it has.
                yield_now().await;
                Err(error)
            };
            stream::iter([Ok(line.into())])
                .chain(stream::once(breaking))
                .boxed()
        }
    });
    ndjson_response(frames)
}

/// Adds the line that ends a stream: an error, or the end of the format.
fn end_frames(
    lines: LineStream,
    format: StreamFormat,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let end = Some(Bytes::from_static(format.end())).filter(|end| !end.is_empty());
    let frames = lines.chain(stream::iter(end.map(Ok)));
    frames.scan(false, move |has_failed, frame| {
        if *has_failed {
            return ready(None);
        }
        ready(Some(Ok(frame.unwrap_or_else(|error| {
            *has_failed = true;
            let mut line = Vec::new();
            format.write_failure(&error, &mut line);
            line.into()
        }))))
    })
}

/// Creates the response of an observation: the encoded lines, then the events, and a heartbeat whenever
/// it is idle. When the server shuts down, version 1 breaks off and version 2 ends with an error line.
pub(super) fn observation_response(
    server: Arc<ServerState>,
    stored: Option<LineStream>,
    events: EventStream,
    permit: OwnedSemaphorePermit,
    format: StreamFormat,
) -> Response {
    let client = ObservingClient {
        heartbeat: server.settings.heartbeat,
        shutdown: server.shutdown.clone(),
        _permit: permit,
    };
    let frames = EventFrames {
        server,
        format,
        stored,
        events,
        client: Some(client),
        capacity: 0,
        has_ended: false,
    };
    ndjson_response(frames.into_stream())
}

impl EventFrames {
    fn into_stream(
        self,
    ) -> impl Stream<Item = Result<Bytes, ServerShutdownError>> + Send + 'static {
        stream::unfold(self, |mut frames| async {
            let frame = frames.next_frame().await?;
            Some((frame, frames))
        })
    }

    /// Returns the lines that are ready. Waits for the first one.
    ///
    /// # Errors
    /// The server is shutting down, and the connection is to be closed.
    async fn next_frame(&mut self) -> Option<Result<Bytes, ServerShutdownError>> {
        if self.has_ended {
            return None;
        }
        if let Some(frame) = self.next_stored_frame().await {
            return Some(frame);
        }
        let mut frame = Vec::with_capacity(self.capacity);
        if self.write_first_line(&mut frame).await.is_break() {
            self.has_ended = true;
            return Some(self.format.encode_shutdown());
        }
        while !self.has_ended && frame.len() < FRAME_SIZE {
            let Some(event) = self.events.next().now_or_never() else {
                break;
            };
            self.write_line(event, &mut frame);
        }
        // The last line may cross the limit.
        self.capacity = frame.len().saturating_add(frame.len() / 8);
        (!frame.is_empty()).then(|| Ok(frame.into()))
    }

    /// Returns the next encoded lines or a heartbeat. Returns `None` after the last
    /// encoded line.
    async fn next_stored_frame(&mut self) -> Option<Result<Bytes, ServerShutdownError>> {
        let (stored, client) = (self.stored.as_mut()?, self.client.as_mut()?);
        let mut frame = Vec::new();
        tokio::select! {
            biased;
            () = client.shutdown.cancelled() => {
                self.has_ended = true;
                return Some(self.format.encode_shutdown());
            }
            lines = stored.next() => match lines {
                Some(Ok(lines)) => return Some(Ok(lines)),
                Some(Err(error)) => {
                    self.format.write_failure(&error, &mut frame);
                    self.has_ended = true;
                }
                None => {
                    self.stored = None;
                    return None;
                }
            },
            () = sleep(client.heartbeat) => frame.extend_from_slice(self.format.heartbeat()),
        }
        Some(Ok(frame.into()))
    }

    /// Waits for the first line of a frame: an event, or a heartbeat for the client of an endless stream. Breaks when the
    /// server shuts down.
    async fn write_first_line(&mut self, frame: &mut Vec<u8>) -> ControlFlow<()> {
        let Some(client) = &mut self.client else {
            let event = self.events.next().await;
            self.write_line(event, frame);
            return ControlFlow::Continue(());
        };
        tokio::select! {
            biased;
            () = client.shutdown.cancelled() => return ControlFlow::Break(()),
            event = self.events.next() => self.write_line(event, frame),
            () = sleep(client.heartbeat) => frame.extend_from_slice(self.format.heartbeat()),
        }
        ControlFlow::Continue(())
    }

    fn write_line(
        &mut self,
        event: Option<Result<RecordedEvent, StoreError>>,
        frame: &mut Vec<u8>,
    ) {
        match event {
            Some(Ok(event)) => {
                let settings = &self.server.settings;
                self.format.write_event(&event, settings, frame);
            }
            Some(Err(error)) => {
                self.format.write_failure(&error, frame);
                self.has_ended = true;
            }
            None => {
                frame.extend_from_slice(self.format.end());
                self.has_ended = true;
            }
        }
    }
}
