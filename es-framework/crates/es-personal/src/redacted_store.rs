//! The event store as the console sees it: no sealed value can be read.

use std::sync::Arc;

use async_trait::async_trait;
use es_event::{EventCandidate, EventType, RecordedEvent, Subject};
use es_store::{
    AppendError, EventStore, EventStream, EventTypeStream, KnownEventType, ObserveOptions,
    Precondition, ReadOptions, StoreError, SubjectStream,
};
use futures_util::StreamExt as _;

use crate::personal_store::redact;

/// Stands on pages for a personal value, whether its person is erased or not.
const HIDDEN: &str = r#""(personal, not shown)""#;

/// Replaces sealed values without a key.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct RedactedStore {
    store: Arc<dyn EventStore>,
    /// The JSON that stands for each value. Without it, a value reads as if its person were erased, which fits its declaration.
    shown: Option<&'static str>,
}

impl RedactedStore {
    /// Reads from the store that holds the sealed values. Each one reads as its replacement.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        Self { store, shown: None }
    }

    /// Reads each sealed value as a text which says that it is not shown.
    #[must_use]
    pub fn for_pages(self) -> Self {
        let shown = Some(HIDDEN);
        Self { shown, ..self }
    }

    fn redact_stream(&self, events: EventStream) -> EventStream {
        let shown = self.shown;
        let redacted = events.map(move |event| event.and_then(|event| redact(event, shown)));
        redacted.boxed()
    }
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
        self.redact_stream(self.store.read(subject, options))
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.redact_stream(self.store.observe(subject, options))
    }

    fn read_subjects(&self, base: Subject) -> SubjectStream {
        self.store.read_subjects(base)
    }

    async fn read_child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        self.store.read_child_subjects(base, after, limit).await
    }

    fn read_event_types(&self) -> EventTypeStream {
        self.store.read_event_types()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        self.store.read_event_type(event_type).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        self.store.health().await
    }

    fn description(&self) -> String {
        self.store.description()
    }
}
