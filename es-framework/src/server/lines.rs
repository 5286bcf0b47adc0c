//! Events as a streamed body: one line each, many lines a frame.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{http::HeaderValue, response::Response};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::json;
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    time::sleep,
};

use super::{Server, Settings, rows::ndjson};
use crate::{
    event::{Dialect, LineShape, RecordedEvent},
    store::{EventStream, LineStream, StoreError},
};

/// From this size on, in bytes, a frame is sent although more events are ready. A frame an event
/// would cost a system call each.
pub(super) const FRAME: usize = 64 * 1024;

pub(super) const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
pub(super) const HEARTBEAT: &[u8] = b"{\"type\":\"heartbeat\",\"payload\":{}}\n";

/// The lines of one answer. Events are taken from the store only as the client takes frames, so
/// a slow client holds one frame in memory and no more.
pub(super) struct Lines {
    server: Arc<Server>,
    /// What goes out before the events.
    stored: Option<LineStream>,
    events: EventStream,
    endless: Option<Endless>,
    /// How long the last frame was: the next is likely to be as long, and one that grows bit by
    /// bit is copied several times.
    length: usize,
    ended: bool,
}

/// What a stream without an end has beside its events.
struct Endless {
    heartbeat: Duration,
    closing: watch::Receiver<bool>,
    /// Given back when the observer goes.
    _place: OwnedSemaphorePermit,
}

impl Lines {
    /// An answer that ends with the events. No heartbeats: some clients fail on them here.
    pub(super) fn finite(server: Arc<Server>, events: EventStream) -> Response {
        Self {
            server,
            stored: None,
            events,
            endless: None,
            length: 0,
            ended: false,
        }
        .into_response()
    }

    /// The same, of lines that are written already.
    pub(super) fn written(lines: LineStream) -> Response {
        let frames = lines.map(|frame| {
            frame.unwrap_or_else(|error| {
                let mut line = Vec::new();
                break_off(&error, &mut line);
                line.into()
            })
        });
        ndjson(frames.map(Ok))
    }

    /// An answer that goes on until the server closes, with a sign of life whenever it is idle.
    /// Lines that are written already come first.
    pub(super) fn endless(
        server: Arc<Server>,
        stored: Option<LineStream>,
        events: EventStream,
        place: OwnedSemaphorePermit,
    ) -> Response {
        let endless = Endless {
            heartbeat: server.settings.heartbeat,
            closing: server.closing.clone(),
            _place: place,
        };
        Self {
            server,
            stored,
            events,
            endless: Some(endless),
            length: 0,
            ended: false,
        }
        .into_response()
    }

    fn into_response(self) -> Response {
        let frames = stream::unfold(self, |mut lines| async {
            let frame = lines.frame().await?;
            Some((Ok::<_, Infallible>(frame), lines))
        });
        ndjson(frames)
    }

    /// Whatever is ready, at least one line.
    async fn frame(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        if let Some(frame) = self.stored().await {
            return Some(frame);
        }
        let mut frame = Vec::with_capacity(self.length);
        self.first(&mut frame).await;
        while !self.ended && frame.len() < FRAME {
            let Some(event) = self.events.next().now_or_never() else {
                break;
            };
            self.write(event, &mut frame);
        }
        // With room for a last line that crosses the limit.
        self.length = frame.len().saturating_add(frame.len() / 8);
        (!frame.is_empty()).then(|| frame.into())
    }

    /// The next lines that are written already, or what has to be said meanwhile.
    async fn stored(&mut self) -> Option<Bytes> {
        let (stored, endless) = (self.stored.as_mut()?, self.endless.as_mut()?);
        let mut frame = Vec::new();
        tokio::select! {
            biased;
            () = closed(&mut endless.closing) => {
                write_error("the server is shutting down", &mut frame);
                self.ended = true;
            }
            lines = stored.next() => match lines {
                Some(Ok(lines)) => return Some(lines),
                Some(Err(error)) => {
                    break_off(&error, &mut frame);
                    self.ended = true;
                }
                None => {
                    self.stored = None;
                    return None;
                }
            },
            () = sleep(endless.heartbeat) => frame.extend_from_slice(HEARTBEAT),
        }
        Some(frame.into())
    }

    /// Waits for the line that a frame begins with.
    async fn first(&mut self, frame: &mut Vec<u8>) {
        let Some(Endless {
            heartbeat, closing, ..
        }) = &mut self.endless
        else {
            let event = self.events.next().await;
            return self.write(event, frame);
        };
        tokio::select! {
            biased;
            () = closed(closing) => {
                write_error("the server is shutting down", frame);
                self.ended = true;
            }
            event = self.events.next() => self.write(event, frame),
            () = sleep(*heartbeat) => frame.extend_from_slice(HEARTBEAT),
        }
    }

    fn write(&mut self, event: Option<Result<RecordedEvent, StoreError>>, frame: &mut Vec<u8>) {
        match event {
            Some(Ok(event)) => {
                let settings = &self.server.settings;
                let signature = settings.signature(&event);
                settings
                    .dialect
                    .write_line(&event, signature.as_deref(), frame);
            }
            Some(Err(error)) => {
                break_off(&error, frame);
                self.ended = true;
            }
            None => self.ended = true,
        }
    }
}

fn break_off(error: &StoreError, frame: &mut Vec<u8>) {
    tracing::error!(%error, "a stream of events broke off");
    write_error(&error.to_string(), frame);
}

impl Settings {
    /// How lines are written that need no signature; `None` where they do.
    pub(super) fn unsigned(&self) -> Option<LineShape> {
        let is_signed = self.signing_key.is_some() && self.dialect == Dialect::Event;
        (!is_signed).then_some(LineShape::Stream(self.dialect))
    }

    /// The signature to send beside an event, where there is a key and a place for it.
    pub(super) fn signature(&self, event: &RecordedEvent) -> Option<String> {
        let key = self.signing_key.as_ref()?;
        (self.dialect == Dialect::Event)
            .then(|| key.sign(&event.hash))
            .flatten()
    }
}

async fn closed(closing: &mut watch::Receiver<bool>) {
    // An error says that the server is gone, which is the same to an observer.
    let _ = closing.wait_for(|closing| *closing).await;
}

/// The status is long sent once a stream has begun: an error is a line of its own.
pub(super) fn write_error(text: &str, frame: &mut Vec<u8>) {
    let line = json!({"type": "error", "payload": {"error": text}});
    frame.extend_from_slice(line.to_string().as_bytes());
    frame.push(b'\n');
}
