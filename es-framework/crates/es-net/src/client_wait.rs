//! Records since when a connection waits for its client: for a request, for the rest of a body, or
//! for the next request.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Instant;

use super::limits::ConnectionLimits;

/// The wait of one connection for its client.
#[derive(Debug)]
pub(super) struct ClientWait(Mutex<ConnectionPhase>);

/// The side that a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ConnectionPhase {
    /// The client has not sent the head of a request since it connected.
    AwaitingFirstRequest { since: Instant },
    /// The client has not sent the rest of a request, or the next request.
    AwaitingClient { since: Instant },
    /// The server works on a response or sends it.
    Responding,
}

impl ClientWait {
    /// Starts to wait for the first request.
    pub(super) fn new() -> Arc<Self> {
        let since = Instant::now();
        let phase = ConnectionPhase::AwaitingFirstRequest { since };
        Arc::new(Self(Mutex::new(phase)))
    }

    /// Returns the time at which the connection ends if the connection limit is reached. Returns
    /// `None` while the server responds.
    pub(super) fn end_when_full(&self, limits: &ConnectionLimits) -> Option<Instant> {
        let (since, time) = match *self.phase() {
            ConnectionPhase::AwaitingFirstRequest { since } => {
                (since, limits.first_request_time_when_full)
            }
            ConnectionPhase::AwaitingClient { since } => (since, limits.idle_time_when_full),
            ConnectionPhase::Responding => return None,
        };
        since.checked_add(time)
    }

    /// Records that a response is due. The connection waits for its client again when the returned
    /// guard drops.
    pub(super) fn begin_responding(self: &Arc<Self>) -> RespondingGuard {
        *self.phase() = ConnectionPhase::Responding;
        RespondingGuard(Arc::clone(self))
    }

    /// Records that the body of a request is due. The time counts from here until the returned guard
    /// drops, so that a byte now and then does not prolong it.
    pub(super) fn start_request_body(self: &Arc<Self>) -> RequestBodyGuard {
        let since = Instant::now();
        let phase = ConnectionPhase::AwaitingClient { since };
        *self.phase() = phase;
        let wait = Arc::clone(self);
        RequestBodyGuard { wait, phase }
    }

    fn phase(&self) -> MutexGuard<'_, ConnectionPhase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lives until a response is sent or its connection breaks.
pub(super) struct RespondingGuard(Arc<ClientWait>);

impl Drop for RespondingGuard {
    fn drop(&mut self) {
        let since = Instant::now();
        *self.0.phase() = ConnectionPhase::AwaitingClient { since };
    }
}

/// Lives until the body of a request is dropped. A reader drops the body after reading all of it.
pub(super) struct RequestBodyGuard {
    wait: Arc<ClientWait>,
    phase: ConnectionPhase,
}

impl Drop for RequestBodyGuard {
    fn drop(&mut self) {
        let mut phase = self.wait.phase();
        // A body may outlive its response.
        if *phase == self.phase {
            *phase = ConnectionPhase::Responding;
        }
    }
}

/// A body that drops a guard when it is dropped itself.
pub(super) struct BodyWithGuard<B, G> {
    pub(super) body: B,
    pub(super) _guard: G,
}

impl<B: Body + Unpin, G: Unpin> Body for BodyWithGuard<B, G> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
