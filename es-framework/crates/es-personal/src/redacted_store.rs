//! The event store as the console sees it: each sealed value reads as its replacement.

use std::sync::Arc;

use async_trait::async_trait;
use es_event::{EventCandidate, EventType, RecordedEvent, Subject};
use es_store::{
    AppendError, EventStore, EventStream, EventTypeStream, KnownEventType, ObserveOptions,
    Precondition, ReadOptions, StoreError, SubjectStream,
};
use futures_util::StreamExt as _;

use crate::personal_store::redact;

/// Replaces sealed values without a key.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct RedactedStore(Arc<dyn EventStore>);

impl RedactedStore {
    /// Reads from the store that holds the sealed values.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        Self(store)
    }
}

fn redact_stream(events: EventStream) -> EventStream {
    events.map(|event| event.and_then(redact)).boxed()
}

#[async_trait]
impl EventStore for RedactedStore {
    async fn append(
        &self,
        _: Vec<EventCandidate>,
        _: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        Err(StoreError::Refused("this view of the event store is for reading".to_owned()).into())
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        redact_stream(self.0.read(subject, options))
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        redact_stream(self.0.observe(subject, options))
    }

    fn read_subjects(&self, base: Subject) -> SubjectStream {
        self.0.read_subjects(base)
    }

    async fn read_child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        self.0.read_child_subjects(base, after, limit).await
    }

    fn read_event_types(&self) -> EventTypeStream {
        self.0.read_event_types()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        self.0.read_event_type(event_type).await
    }

    async fn find_table_flaw(
        &self,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<String>, StoreError> {
        self.0.find_table_flaw(progress).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.0.health().await
    }

    fn description(&self) -> String {
        self.0.description()
    }
}
