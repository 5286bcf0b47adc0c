//! What tells a connection's place whether a request is being answered or the client is waited for.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::places::Place;

/// The body of a request. While a client is slow with it, its connection counts as idle.
pub(super) struct Received {
    pub(super) body: Incoming,
    pub(super) place: Arc<Place>,
}

impl Body for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        match frame.is_pending() {
            true => self.place.wait_for_more(),
            false => self.place.go_on(),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer, dropped once it is sent.
pub(super) struct Sent {
    pub(super) body: axum::body::Body,
    pub(super) _answering: Answering,
}

impl Body for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A request, from its head to the end of its answer or of its connection.
pub(super) struct Answering(Arc<Place>);

impl Answering {
    pub(super) fn begin(place: &Arc<Place>) -> Self {
        place.begin();
        Self(Arc::clone(place))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.wait();
    }
}
