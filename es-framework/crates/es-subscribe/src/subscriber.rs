//! The trait of everything that follows the events of a store.

use async_trait::async_trait;

use super::{SubscriberFailure, SubscriberProgress};
use es_event::{PoisonEvent, RecordedEvent};
use es_store::StoreError;

/// A subscriber: some components that share one subscription, such as a group of read models, or one reaction.
/// [`follow`](super::follow) runs it.
///
/// The engine calls the methods one after another, except that it prepares the next batch while the subscriber
/// handles the current one. Operators read [`SubscriberProgress`] at any time.
#[doc(hidden)]
#[async_trait]
pub trait Subscriber: Send + Sync {
    /// A batch of events, prepared without side effects: rows to write, messages to send.
    type Batch: Send;
    /// The reason why the subscriber ends although nobody has stopped it.
    type End: Send;

    /// The highest number of events of a batch.
    const BATCH: usize;

    /// Returns the progress of each component that goes on. The subscription begins after the lowest of their
    /// positions.
    fn running(&self) -> Vec<SubscriberProgress>;

    /// Loads the checkpoints and publishes the positions. Each new subscription begins with it. The engine never
    /// drops the future before its end.
    async fn begin(&self) -> Result<(), Interruption<Self::End>>;

    /// Prepares a batch: decodes, upcasts and folds the events. It neither waits nor has side effects.
    fn prepare(&self, events: Vec<RecordedEvent>) -> Self::Batch;

    /// Handles a batch and publishes the positions. An event that one component cannot handle need not be an
    /// error: the others may go on. The engine never drops the future before its end.
    async fn handle(&self, batch: Self::Batch) -> Result<(), Interruption<Self::End>>;

    /// Passes over an event that the event store cannot read.
    async fn pass_unreadable(&self, poison: &PoisonEvent) -> Result<(), Interruption<Self::End>>;

    /// Returns the reason to end, if there is one by now.
    fn end(&self) -> Option<Self::End> {
        None
    }

    /// Returns true if the event at which the subscriber has parked no longer stops it: another process has
    /// handled it, or an operator skips it.
    async fn is_settled(&self, _poison: &PoisonEvent) -> bool {
        false
    }

    /// Returns true if larger batches are worth a short wait for more events, as with a transaction for each
    /// batch.
    fn gathers_events(&self) -> bool {
        false
    }
}

/// The reason why a subscriber does not handle further events.
#[doc(hidden)]
#[derive(Debug)]
pub enum Interruption<End> {
    /// The event store failed, or it cannot read the next event.
    Store(StoreError),
    /// Something else failed. The engine subscribes again after a pause.
    Failed(SubscriberFailure),
    /// The subscriber cannot handle an event. It waits until an operator or another process removes the cause.
    Parked(PoisonEvent),
    /// The subscriber ends by itself.
    Ended(End),
    /// Somebody has stopped the subscriber.
    Stopped,
}

impl<End> From<StoreError> for Interruption<End> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
