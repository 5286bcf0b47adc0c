//! A view of the event store that remembers the events that a dry run reads.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt as _, TryStreamExt as _};

use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{
    AppendError, EventStore, EventStream, ObserveOptions, Precondition, ReadOptions, StoreError,
};

use super::read_only::{refuse_append, refuse_observation};

/// The number of events that are remembered.
const EVENTS: usize = 100;
/// The size of the data that is remembered, in bytes.
const SIZE: usize = 100_000;

/// A store that remembers the events that it reads. Nothing can be appended.
#[doc(hidden)]
#[derive(Debug)]
pub struct RecordingStore {
    store: Arc<dyn EventStore>,
    read: Arc<Mutex<DryRunReads>>,
}

/// The events that a dry run read, up to a limit.
#[derive(Debug, Default)]
struct DryRunReads {
    by_id: BTreeMap<EventId, RecordedEvent>,
    size: usize,
    is_incomplete: bool,
}

impl DryRunReads {
    fn remember(&mut self, event: &RecordedEvent) {
        if self.by_id.contains_key(&event.id) {
            return;
        }
        let size = self.size.saturating_add(event.data.get().len());
        if self.by_id.len() >= EVENTS || size > SIZE {
            self.is_incomplete = true;
            return;
        }
        self.size = size;
        self.by_id.insert(event.id, event.clone());
    }
}

impl RecordingStore {
    /// Creates a view of this store.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        let read = Arc::default();
        Self { store, read }
    }

    /// Returns the events that were read, in order, or `None` if they are too many or too large.
    #[must_use]
    pub fn recorded_events(&self) -> Option<Vec<RecordedEvent>> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        (!read.is_incomplete).then(|| read.by_id.values().cloned().collect())
    }

    /// Returns the sentence on a dry run that reads too many events.
    #[must_use]
    pub fn limit_message() -> String {
        format!(
            "The decision reads more than {EVENTS} events or {SIZE} bytes, too many for a test."
        )
    }
}

#[async_trait::async_trait]
impl EventStore for RecordingStore {
    async fn append(
        &self,
        _: Vec<EventCandidate>,
        _: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        refuse_append()
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        let read = Arc::clone(&self.read);
        let remember = move |event: &RecordedEvent| {
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            read.remember(event);
        };
        self.store
            .read(subject, options)
            .inspect_ok(remember)
            .boxed()
    }

    fn observe(&self, _: Subject, _: ObserveOptions) -> EventStream {
        refuse_observation()
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.store.health().await
    }

    fn description(&self) -> String {
        self.store.description()
    }
}
