//! Streams of events: one line per event, many lines per frame.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::response::Response;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::sleep,
};

use super::{
    ndjson::{FRAME_SIZE, HEARTBEAT_LINE, ndjson_response, write_error_line},
    state::ServerState,
};
use es_event::RecordedEvent;
use es_store::{EventStream, LineStream, StoreError};

/// The events that are not sent yet, in frames. It reads from the store only as fast as the client reads
/// frames, so that a slow client holds one frame in memory.
struct EventFrames {
    server: Arc<ServerState>,
    /// Encoded lines that precede the events.
    stored: Option<LineStream>,
    events: EventStream,
    observer: Option<Observer>,
    /// The capacity for the next frame. It follows the length of the last one, because a frame that
    /// grows step by step is copied several times.
    capacity: usize,
    has_ended: bool,
}

/// Closes the connection of an observer. Version 1 has no error line for it: OpenCQRS stops its
/// projections for good after an error line, and connects again after a closed connection.
#[derive(Debug, thiserror::Error)]
#[error("the server is shutting down")]
struct ServerShutdown;

/// The client of an endless stream.
struct Observer {
    heartbeat: Duration,
    is_shutting_down: watch::Receiver<bool>,
    /// Released when the observer disconnects.
    _permit: OwnedSemaphorePermit,
}

/// Creates a response that ends after the last event. It has no heartbeats, because some clients reject
/// them here.
pub(super) fn finite_response(server: Arc<ServerState>, events: EventStream) -> Response {
    respond(EventFrames {
        server,
        stored: None,
        events,
        observer: None,
        capacity: 0,
        has_ended: false,
    })
}

/// Creates a response that ends after the last of these encoded lines.
pub(super) fn encoded_response(lines: LineStream) -> Response {
    let frames = lines.map(|frame| {
        frame.unwrap_or_else(|error| {
            let mut line = Vec::new();
            break_off(&error, &mut line);
            line.into()
        })
    });
    ndjson_response(frames.map(Ok::<_, Infallible>))
}

/// Creates a response that breaks off when the server shuts down: first the encoded lines, then the events, and
/// heartbeats whenever it is idle.
pub(super) fn observation_response(
    server: Arc<ServerState>,
    stored: Option<LineStream>,
    events: EventStream,
    permit: OwnedSemaphorePermit,
) -> Response {
    let observer = Observer {
        heartbeat: server.settings.heartbeat,
        is_shutting_down: server.is_shutting_down.clone(),
        _permit: permit,
    };
    respond(EventFrames {
        server,
        stored,
        events,
        observer: Some(observer),
        capacity: 0,
        has_ended: false,
    })
}

fn respond(frames: EventFrames) -> Response {
    ndjson_response(stream::unfold(frames, |mut frames| async {
        let frame = frames.next_frame().await?;
        Some((frame, frames))
    }))
}

impl EventFrames {
    /// Returns the lines that are ready. Waits for the first one.
    ///
    /// # Errors
    /// The server is shutting down.
    async fn next_frame(&mut self) -> Option<Result<Bytes, ServerShutdown>> {
        if self.has_ended {
            return None;
        }
        if let Some(frame) = self.next_stored_frame().await {
            return Some(frame);
        }
        let mut frame = Vec::with_capacity(self.capacity);
        if let Err(shutdown) = self.write_first_line(&mut frame).await {
            self.has_ended = true;
            return Some(Err(shutdown));
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

    /// Returns the next encoded lines or a heartbeat. Returns `None` when the encoded lines are sent.
    async fn next_stored_frame(&mut self) -> Option<Result<Bytes, ServerShutdown>> {
        let (stored, observer) = (self.stored.as_mut()?, self.observer.as_mut()?);
        let mut frame = Vec::new();
        tokio::select! {
            biased;
            () = shutdown(&mut observer.is_shutting_down) => {
                self.has_ended = true;
                return Some(Err(ServerShutdown));
            }
            lines = stored.next() => match lines {
                Some(Ok(lines)) => return Some(Ok(lines)),
                Some(Err(error)) => {
                    break_off(&error, &mut frame);
                    self.has_ended = true;
                }
                None => {
                    self.stored = None;
                    return None;
                }
            },
            () = sleep(observer.heartbeat) => frame.extend_from_slice(HEARTBEAT_LINE),
        }
        Some(Ok(frame.into()))
    }

    /// Waits for the first line of a frame: an event, or a heartbeat for an observer.
    async fn write_first_line(&mut self, frame: &mut Vec<u8>) -> Result<(), ServerShutdown> {
        let Some(observer) = &mut self.observer else {
            let event = self.events.next().await;
            self.write_line(event, frame);
            return Ok(());
        };
        tokio::select! {
            biased;
            () = shutdown(&mut observer.is_shutting_down) => return Err(ServerShutdown),
            event = self.events.next() => self.write_line(event, frame),
            () = sleep(observer.heartbeat) => frame.extend_from_slice(HEARTBEAT_LINE),
        }
        Ok(())
    }

    fn write_line(
        &mut self,
        event: Option<Result<RecordedEvent, StoreError>>,
        frame: &mut Vec<u8>,
    ) {
        match event {
            Some(Ok(event)) => {
                let settings = &self.server.settings;
                let signature = settings.sign(&event);
                settings
                    .dialect
                    .write_line(&event, signature.as_deref(), frame);
            }
            Some(Err(error)) => {
                break_off(&error, frame);
                self.has_ended = true;
            }
            None => self.has_ended = true,
        }
    }
}

fn break_off(error: &StoreError, frame: &mut Vec<u8>) {
    tracing::error!(%error, "a stream of events broke off");
    write_error_line(&error.to_string(), frame);
}

/// Completes when the server shuts down.
async fn shutdown(is_shutting_down: &mut watch::Receiver<bool>) {
    // An error means that the server is gone.
    let _ = is_shutting_down
        .wait_for(|is_shutting_down| *is_shutting_down)
        .await;
}
