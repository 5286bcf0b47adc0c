//! Deliveries that go together: one request is on its way, and those that arrive meanwhile share the next one.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::DeliveryError;

/// The most bytes of the events of a batch, unless one delivery alone has more.
const MAX_BYTES: usize = 1 << 20;

/// A delivery: the events that follow from one stored event.
#[derive(Debug)]
pub(crate) struct BatchItem {
    /// The ids of the events.
    pub(crate) ids: Vec<String>,
    /// The events as JSON, with commas between them.
    pub(crate) json: Vec<u8>,
    result: oneshot::Sender<Result<(), DeliveryError>>,
}

/// The result of a delivery. It never arrives if the caller that sends the request is dropped, as at a shutdown.
pub(crate) type BatchResult = oneshot::Receiver<Result<(), DeliveryError>>;

/// The deliveries that wait for the next request. As each has a caller that waits, it grows with these alone.
#[derive(Debug)]
pub(crate) struct BatchQueue {
    max_events: NonZeroUsize,
    waiting: Mutex<VecDeque<BatchItem>>,
    /// The right to send a request.
    sending: tokio::sync::Mutex<()>,
}

impl BatchItem {
    /// Sends the result to the caller, who may have stopped waiting.
    pub(crate) fn send_result(self, result: Result<(), DeliveryError>) {
        let _ = self.result.send(result);
    }
}

impl BatchQueue {
    pub(crate) fn new(max_events: NonZeroUsize) -> Self {
        Self {
            max_events,
            waiting: Mutex::default(),
            sending: tokio::sync::Mutex::default(),
        }
    }

    /// Lets events wait for the next request, and returns where their result arrives.
    pub(crate) fn push(&self, ids: Vec<String>, json: Vec<u8>) -> BatchResult {
        let (result, received) = oneshot::channel();
        self.lock().push_back(BatchItem { ids, json, result });
        received
    }

    /// Waits until no request is on its way. The caller sends the next one while it keeps the guard.
    pub(crate) async fn wait_for_turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.sending.lock().await
    }

    /// Takes the deliveries that waited longest, as many as a batch may have.
    pub(crate) fn take_batch(&self) -> Vec<BatchItem> {
        let (mut events, mut bytes) = (0_usize, 0_usize);
        let mut waiting = self.lock();
        let fits = |item: &&BatchItem| {
            events = events.saturating_add(item.ids.len());
            bytes = bytes.saturating_add(item.json.len());
            events <= self.max_events.get() && bytes <= MAX_BYTES
        };
        let count = waiting.iter().take_while(fits).count();
        let count = count.max(1).min(waiting.len());
        waiting.drain(..count).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<BatchItem>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
