//! A read-only view of the event store as it was after an event or at a time, for dry runs and for the states of reactions.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};
use jiff::Timestamp;

use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{
    AppendError, Bound, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions,
    StoreError,
};

/// The end of a view of the event store.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PastEnd {
    /// The last event, or `None` before the first one.
    Event(Option<EventId>),
    /// The time up to which the events were recorded.
    Time(Timestamp),
}

/// The events of a store up to an end. Nothing can be appended.
#[derive(Debug)]
pub(super) struct PastStore {
    store: Arc<dyn EventLog>,
    end: PastEnd,
}

impl PastStore {
    pub(super) const fn new(store: Arc<dyn EventLog>, end: PastEnd) -> Self {
        Self { store, end }
    }
}

#[async_trait::async_trait]
impl EventLog for PastStore {
    async fn append(
        &self,
        _: Vec<EventCandidate>,
        _: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        Err(AppendError::Store(refused("append events")))
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        let last = match self.end {
            PastEnd::Event(Some(last)) => last,
            PastEnd::Event(None) => return stream::empty().boxed(),
            PastEnd::Time(end) => {
                let is_past = move |event: &RecordedEvent| {
                    let time = event.time.timestamp();
                    future::ready(time.is_ok_and(|time| time <= end))
                };
                return self
                    .store
                    .read(subject, options)
                    .try_filter(is_past)
                    .boxed();
            }
        };
        let upper_bound = Some(Bound::Inclusive(last));
        let options = ReadOptions {
            upper_bound,
            ..options
        };
        self.store.read(subject, options)
    }

    fn observe(&self, _: Subject, _: ObserveOptions) -> EventStream {
        stream::iter([Err(refused("subscribe to events"))]).boxed()
    }
}

fn refused(action: &str) -> StoreError {
    StoreError::Refused(format!("a dry run cannot {action}"))
}
