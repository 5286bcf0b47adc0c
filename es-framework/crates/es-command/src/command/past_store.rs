//! A read-only view of the event store as it was after an event, for dry runs and for the states of reactions.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{
    AppendError, Bound, EventStore, EventStream, ObserveOptions, Precondition, ReadOptions,
    StoreError,
};

/// The number of events that are remembered.
const EVENTS: usize = 100;
/// The size of the data that is remembered, in bytes.
const SIZE: usize = 100_000;

/// The events of a store up to one of them. It remembers the events that are read. Nothing can be appended.
#[derive(Debug)]
pub(super) struct PastStore {
    store: Arc<dyn EventStore>,
    /// The last event, or `None` before the first one.
    last: Option<EventId>,
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
        // Claims of unique values are derived from the events of the application, also in a test.
        if self.by_id.contains_key(&event.id)
            || event.subject.as_str().starts_with("/es-framework/")
        {
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

impl PastStore {
    pub(super) fn new(store: Arc<dyn EventStore>, last: Option<EventId>) -> Self {
        let read = Arc::default();
        Self { store, last, read }
    }

    /// Returns the events that were read, in order, or `None` if they are too many or too large.
    pub(super) fn read_events(&self) -> Option<Vec<RecordedEvent>> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        (!read.is_incomplete).then(|| read.by_id.values().cloned().collect())
    }
}

/// Returns the sentence on a dry run that reads too many events for a test.
#[doc(hidden)]
#[must_use]
pub fn describe_past_limit() -> String {
    format!("The decision reads more than {EVENTS} events or {SIZE} bytes, too many for a test.")
}

#[async_trait::async_trait]
impl EventStore for PastStore {
    async fn append(
        &self,
        _: Vec<EventCandidate>,
        _: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        Err(AppendError::Store(refused("append events")))
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        let Some(last) = self.last else {
            return stream::empty().boxed();
        };
        let upper_bound = Some(Bound::Inclusive(last));
        let options = ReadOptions {
            upper_bound,
            ..options
        };
        let read = Arc::clone(&self.read);
        let remember = move |event: &RecordedEvent| {
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            read.remember(event);
        };
        let events = self.store.read(subject, options);
        events.inspect_ok(remember).boxed()
    }

    fn observe(&self, _: Subject, _: ObserveOptions) -> EventStream {
        stream::iter([Err(refused("subscribe to events"))]).boxed()
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.store.health().await
    }

    fn description(&self) -> String {
        let store = self.store.description();
        match self.last {
            Some(last) => format!("{store} up to event {last}"),
            None => format!("{store} before its first event"),
        }
    }
}

fn refused(action: &str) -> StoreError {
    StoreError::Refused(format!("a dry run cannot {action}"))
}
