//! Events gathered into batches, each noted by the folds that will take it. During a rebuild the next
//! batch is read and noted while the one before it is written.

use std::thread;

use futures_util::{FutureExt as _, StreamExt as _};

use super::{batch::Noted, follower::Follower};
use crate::{
    event::{EventId, RecordedEvent},
    store::{EventStream, StoreError},
};

/// How many events are folded into one transaction at the most.
pub(super) const BATCH: usize = 2_000;
/// From how much of their data on, in bytes, a batch is full with fewer.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// After so many events that came while commands are carried out, other threads may have the
/// processor: the system would have a command's flush wait until the whole batch is noted.
const TURN: usize = 16;

/// Some events in order.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) events: Vec<RecordedEvent>,
    /// What the read models of the follower have noted of them, those that go on.
    pub(super) noted: Vec<Option<Noted>>,
    /// What came after them instead of another event; `None` inside for the end.
    pub(super) failure: Option<Option<StoreError>>,
    bytes: usize,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.events.len() >= BATCH || self.bytes >= BATCH_BYTES || self.failure.is_some()
    }

    fn last(&self) -> Option<EventId> {
        self.events.last().map(|event| event.id)
    }
}

/// The events that a follower observes.
pub(super) struct Batches<'a> {
    follower: &'a Follower,
    events: EventStream,
    /// What was read ahead.
    batch: Batch,
}

impl<'a> Batches<'a> {
    pub(super) fn new(follower: &'a Follower, events: EventStream) -> Self {
        let batch = Batch::default();
        Self {
            follower,
            events,
            batch,
        }
    }

    /// Whatever has come, once something has.
    pub(super) async fn next(&mut self) -> Batch {
        if self.batch.events.is_empty() && !self.batch.is_full() {
            self.receive().await;
        }
        while !self.batch.is_full() && self.receive().now_or_never().is_some() {
            if self.batch.events.len().is_multiple_of(TURN) {
                thread::yield_now();
            }
        }
        let next = Batch {
            // The next batch is likely to be as large.
            events: Vec::with_capacity(self.batch.events.len()),
            ..Batch::default()
        };
        std::mem::replace(&mut self.batch, next)
    }

    /// Reads ahead until a batch is full or has the event `last`. Nothing is lost where that is given
    /// up.
    pub(super) async fn fill(&mut self, last: Option<EventId>) {
        while !self.batch.is_full() && self.batch.last() < last {
            self.receive().await;
        }
    }

    async fn receive(&mut self) {
        match self.events.next().await {
            Some(Ok(event)) => self.add(event),
            Some(Err(error)) => self.batch.failure = Some(Some(error)),
            None => self.batch.failure = Some(None),
        }
    }

    fn add(&mut self, event: RecordedEvent) {
        let models = &self.follower.models;
        self.batch.noted.resize_with(models.len(), || None);
        for (model, noted) in models.iter().zip(&mut self.batch.noted) {
            let is_new = || model.progress.position() < Some(event.id);
            if noted.is_none() && !model.progress.is_stopped() && is_new() {
                *noted = Some(Noted::new(&model.table));
            }
            if let Some(noted) = noted {
                noted.add(self.follower.taking(model), &event);
            }
        }
        self.batch.bytes = self.batch.bytes.saturating_add(event.data.get().len());
        self.batch.events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::stream;
    use serde_json::value::RawValue;

    use super::*;
    use crate::{
        event::{EventCandidate, EventTime, Hash, Upcasters},
        projection::{Database, ReadModels},
        store::memory::MemoryStore,
    };

    async fn follower() -> Follower {
        Follower {
            store: Arc::new(MemoryStore::new()),
            database: Database::in_memory(&ReadModels::default()).await.unwrap(),
            upcasters: Upcasters::default(),
            models: Vec::new(),
        }
    }

    fn event(id: u64, length: usize) -> Result<RecordedEvent, StoreError> {
        let data = format!(r#"{{"text":"{}"}}"#, "x".repeat(length));
        let candidate = EventCandidate {
            source: "garden".into(),
            subject: "/trees/1".parse().unwrap(),
            event_type: "com.example.garden.TreePlantedEvent".parse().unwrap(),
            data: RawValue::from_string(data).unwrap(),
            trace: None,
        };
        let id = EventId::new(id).unwrap();
        let event = RecordedEvent::record(candidate, id, EventTime::now(), Hash::ZERO);
        Ok(event)
    }

    fn ids(batch: &Batch) -> Vec<u64> {
        batch.events.iter().map(|event| event.id.get()).collect()
    }

    #[tokio::test]
    async fn a_batch_ends_after_many_events_or_much_data() {
        let follower = follower().await;
        let many = u64::try_from(BATCH).unwrap();
        let small = (0..many + 1).map(|id| event(id, 1));
        let large = (many + 1..many + 4).map(|id| event(id, BATCH_BYTES / 2));
        let events = stream::iter(small.chain(large)).boxed();
        let mut batches = Batches::new(&follower, events);
        assert_eq!(batches.next().await.events.len(), BATCH);
        assert_eq!(ids(&batches.next().await), [many, many + 1, many + 2]);
        let last = batches.next().await;
        assert_eq!(ids(&last), [many + 3]);
        assert!(matches!(last.failure, Some(None)), "it has ended");
    }

    #[tokio::test]
    async fn what_was_read_ahead_is_the_next_batch_even_if_that_was_given_up() {
        let follower = follower().await;
        let events = stream::iter((0..4).map(|id| event(id, 1)));
        let mut batches = Batches::new(&follower, events.chain(stream::pending()).boxed());
        batches.fill(EventId::new(1)).await;
        assert_eq!(ids(&batches.batch), [0, 1]);
        assert!(batches.fill(EventId::new(9)).now_or_never().is_none());
        assert_eq!(ids(&batches.next().await), [0, 1, 2, 3]);
        assert!(batches.next().now_or_never().is_none(), "nothing is left");
    }

    #[tokio::test]
    async fn the_events_before_a_failure_come_with_it() {
        let follower = follower().await;
        let failure = StoreError::Refused("no".into());
        let events = stream::iter([event(0, 1), Err(failure), event(1, 1)]).boxed();
        let mut batches = Batches::new(&follower, events);
        batches.fill(EventId::new(9)).await;
        let batch = batches.next().await;
        assert_eq!(ids(&batch), [0]);
        assert!(matches!(batch.failure, Some(Some(StoreError::Refused(_)))));
    }
}
