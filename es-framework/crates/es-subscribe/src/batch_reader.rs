//! The batches of events that a subscription reads.

use futures_util::{FutureExt as _, StreamExt as _};

use es_event::{EventId, RecordedEvent};
use es_store::{EventStream, StoreError};

/// The size of the data of a full batch in bytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Consecutive events.
#[derive(Default)]
pub(super) struct EventBatch {
    pub(super) events: Vec<RecordedEvent>,
    /// The failure that followed the events; `Some(None)` if the subscription ended.
    pub(super) failure: Option<Option<StoreError>>,
    bytes: usize,
}

impl EventBatch {
    pub(super) fn last(&self) -> Option<EventId> {
        self.events.last().map(|event| event.id)
    }
}

/// Reads the events of a subscription in batches.
pub(super) struct BatchReader {
    events: EventStream,
    /// The highest number of events of a batch.
    limit: usize,
    /// The part of the next batch that is already read.
    batch: EventBatch,
}

impl BatchReader {
    pub(super) fn new(events: EventStream, limit: usize) -> Self {
        Self {
            events,
            limit,
            batch: EventBatch::default(),
        }
    }

    /// Waits for an event and returns all events that have arrived, up to a full batch. A dropped future loses no
    /// event.
    pub(super) async fn next_batch(&mut self) -> EventBatch {
        if self.batch.events.is_empty() && !self.is_full() {
            self.receive().await;
        }
        while !self.is_full() && self.receive().now_or_never().is_some() {}
        self.take_batch()
    }

    /// Reads ahead until the batch is full or contains the event `last`, and returns it. A dropped future loses no
    /// event.
    pub(super) async fn next_full_batch(&mut self, last: Option<EventId>) -> EventBatch {
        self.fill(last).await;
        self.take_batch()
    }

    /// Reads ahead until the batch is full or contains the event `last`. A dropped future loses no event.
    pub(super) async fn fill(&mut self, last: Option<EventId>) {
        while !self.is_full() && self.batch.last() < last {
            self.receive().await;
        }
    }

    /// Reads ahead until the batch is full. A dropped future loses no event.
    pub(super) async fn gather(&mut self) {
        while !self.is_full() {
            self.receive().await;
        }
    }

    fn is_full(&self) -> bool {
        let batch = &self.batch;
        batch.events.len() >= self.limit || batch.bytes >= BATCH_BYTES || batch.failure.is_some()
    }

    fn take_batch(&mut self) -> EventBatch {
        let next = EventBatch {
            // The next batch is likely to be as large.
            events: Vec::with_capacity(self.batch.events.len()),
            ..EventBatch::default()
        };
        std::mem::replace(&mut self.batch, next)
    }

    /// Waits for the next event, or records the failure of the subscription.
    async fn receive(&mut self) {
        match self.events.next().await {
            Some(Ok(event)) => {
                let bytes = event.data.get().len();
                self.batch.bytes = self.batch.bytes.saturating_add(bytes);
                self.batch.events.push(event);
            }
            Some(Err(error)) => self.batch.failure = Some(Some(error)),
            None => self.batch.failure = Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use es_event::{EventCandidate, EventTime, Hash};
    use futures_util::stream;
    use serde_json::value::RawValue;

    use super::*;

    const BATCH: usize = 2_000;

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

    fn ids(batch: &EventBatch) -> Vec<u64> {
        batch.events.iter().map(|event| event.id.get()).collect()
    }

    #[tokio::test]
    async fn a_batch_ends_after_many_events_or_much_data() {
        let many = u64::try_from(BATCH).unwrap();
        let small = (0..many + 1).map(|id| event(id, 1));
        let large = (many + 1..many + 4).map(|id| event(id, BATCH_BYTES / 2));
        let events = stream::iter(small.chain(large)).boxed();
        let mut batches = BatchReader::new(events, BATCH);
        assert_eq!(batches.next_batch().await.events.len(), BATCH);
        assert_eq!(ids(&batches.next_batch().await), [many, many + 1, many + 2]);
        let last = batches.next_batch().await;
        assert_eq!(ids(&last), [many + 3]);
        assert!(matches!(last.failure, Some(None)), "it has ended");
    }

    #[tokio::test]
    async fn what_was_read_ahead_is_the_next_batch_even_if_that_was_given_up() {
        let events = stream::iter((0..4).map(|id| event(id, 1)));
        let mut batches = BatchReader::new(events.chain(stream::pending()).boxed(), BATCH);
        batches.fill(EventId::new(1)).await;
        assert_eq!(ids(&batches.batch), [0, 1]);
        assert!(batches.fill(EventId::new(9)).now_or_never().is_none());
        assert_eq!(ids(&batches.next_batch().await), [0, 1, 2, 3]);
        assert!(
            batches.next_batch().now_or_never().is_none(),
            "nothing is left"
        );
    }

    #[tokio::test]
    async fn the_events_before_a_failure_come_with_it() {
        let failure = StoreError::Refused("no".into());
        let events = stream::iter([event(0, 1), Err(failure), event(1, 1)]).boxed();
        let mut batches = BatchReader::new(events, BATCH);
        batches.fill(EventId::new(9)).await;
        let batch = batches.next_batch().await;
        assert_eq!(ids(&batch), [0]);
        assert!(matches!(batch.failure, Some(Some(StoreError::Refused(_)))));
    }
}
