//! A read-only view of the event store as it was after an event, for dry runs and for the states of reactions.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};

use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{
    AppendError, Bound, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions,
    StoreError,
};

/// The events of a store up to one of them. Nothing can be appended.
#[derive(Debug)]
pub(super) struct PastStore {
    store: Arc<dyn EventLog>,
    /// The last event, or `None` before the first one.
    last: Option<EventId>,
}

impl PastStore {
    pub(super) const fn new(store: Arc<dyn EventLog>, last: Option<EventId>) -> Self {
        Self { store, last }
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
        let Some(last) = self.last else {
            return stream::empty().boxed();
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
