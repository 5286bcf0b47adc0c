//! The batches of events that a pipeline applies.

use futures_util::{FutureExt as _, StreamExt as _};

use super::{batch_fold::BatchFold, pipeline_read_model::PipelineReadModel};
use es_event::{EventId, RecordedEvent, Upcasters};
use es_store::{EventStream, StoreError};

/// The number of events of a full batch.
const BATCH: usize = 2_000;
/// The size of the data of a full batch in bytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Consecutive events, folded for each read model.
#[derive(Default)]
pub(super) struct EventBatch {
    pub(super) events: Vec<RecordedEvent>,
    /// The fold of each read model of the pipeline, in their order. It is `None` if the read model has stopped, if
    /// appends write its rows, or if it has applied the events.
    pub(super) folds: Vec<Option<BatchFold>>,
    /// The failure that followed the events; `Some(None)` if the subscription ended.
    pub(super) failure: Option<Option<StoreError>>,
    bytes: usize,
}

impl EventBatch {
    fn is_full(&self) -> bool {
        self.events.len() >= BATCH || self.bytes >= BATCH_BYTES || self.failure.is_some()
    }

    fn last(&self) -> Option<EventId> {
        self.events.last().map(|event| event.id)
    }
}

/// Reads the events of a subscription in batches and decodes them.
pub(super) struct BatchReader<'a> {
    models: &'a [PipelineReadModel],
    upcasters: &'a Upcasters,
    events: EventStream,
    /// The part of the next batch that is already read.
    batch: EventBatch,
}

impl<'a> BatchReader<'a> {
    pub(super) fn new(
        models: &'a [PipelineReadModel],
        upcasters: &'a Upcasters,
        events: EventStream,
    ) -> Self {
        Self {
            models,
            upcasters,
            events,
            batch: EventBatch::default(),
        }
    }

    /// Waits for an event and returns all events that have arrived, up to a full batch.
    pub(super) async fn next_batch(&mut self) -> EventBatch {
        if self.batch.events.is_empty() && !self.batch.is_full() {
            self.receive().await;
        }
        while !self.batch.is_full() && self.receive().now_or_never().is_some() {}
        let next = EventBatch {
            // The next batch is likely to be as large.
            events: Vec::with_capacity(self.batch.events.len()),
            ..EventBatch::default()
        };
        std::mem::replace(&mut self.batch, next)
    }

    /// Reads ahead until the batch is full or contains the event `last`. A dropped future loses no
    /// event.
    pub(super) async fn fill(&mut self, last: Option<EventId>) {
        while !self.batch.is_full() && self.batch.last() < last {
            self.receive().await;
        }
    }

    /// Reads ahead until the batch is full. A dropped future loses no event.
    pub(super) async fn gather(&mut self) {
        while !self.batch.is_full() {
            self.receive().await;
        }
    }

    /// Waits for the next event, or records the failure of the subscription.
    async fn receive(&mut self) {
        match self.events.next().await {
            Some(Ok(event)) => self.add(event),
            Some(Err(error)) => self.batch.failure = Some(Some(error)),
            None => self.batch.failure = Some(None),
        }
    }

    /// Adds an event to the batch, and to the fold of each read model that needs it.
    fn add(&mut self, event: RecordedEvent) {
        self.batch.folds.resize_with(self.models.len(), || None);
        for (model, fold) in self.models.iter().zip(&mut self.batch.folds) {
            let is_new = || model.progress.visible_position() < Some(event.id);
            if fold.is_none() && model.is_folded_on_read() && is_new() {
                *fold = Some(BatchFold::new(&model.table));
            }
            if let Some(fold) = fold {
                fold.add_event(&model.skipped, self.upcasters, &event);
            }
        }
        self.batch.bytes = self.batch.bytes.saturating_add(event.data.get().len());
        self.batch.events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use serde_json::value::RawValue;

    use super::*;
    use es_event::{EventCandidate, EventTime, Hash};

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
        let upcasters = Upcasters::default();
        let many = u64::try_from(BATCH).unwrap();
        let small = (0..many + 1).map(|id| event(id, 1));
        let large = (many + 1..many + 4).map(|id| event(id, BATCH_BYTES / 2));
        let events = stream::iter(small.chain(large)).boxed();
        let mut batches = BatchReader::new(&[], &upcasters, events);
        assert_eq!(batches.next_batch().await.events.len(), BATCH);
        assert_eq!(ids(&batches.next_batch().await), [many, many + 1, many + 2]);
        let last = batches.next_batch().await;
        assert_eq!(ids(&last), [many + 3]);
        assert!(matches!(last.failure, Some(None)), "it has ended");
    }

    #[tokio::test]
    async fn what_was_read_ahead_is_the_next_batch_even_if_that_was_given_up() {
        let upcasters = Upcasters::default();
        let events = stream::iter((0..4).map(|id| event(id, 1)));
        let mut batches =
            BatchReader::new(&[], &upcasters, events.chain(stream::pending()).boxed());
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
        let upcasters = Upcasters::default();
        let failure = StoreError::Refused("no".into());
        let events = stream::iter([event(0, 1), Err(failure), event(1, 1)]).boxed();
        let mut batches = BatchReader::new(&[], &upcasters, events);
        batches.fill(EventId::new(9)).await;
        let batch = batches.next_batch().await;
        assert_eq!(ids(&batch), [0]);
        assert!(matches!(batch.failure, Some(Some(StoreError::Refused(_)))));
    }
}
