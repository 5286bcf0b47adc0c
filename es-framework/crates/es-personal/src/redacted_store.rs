//! The event store as the console sees it: no sealed value can be read.

use std::sync::Arc;

use async_trait::async_trait;
use es_event::{EventCandidate, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions, StoreError,
};
use futures_util::StreamExt as _;

use crate::personal_store::redact;

/// Stands on pages for a personal value, whether its person is erased or not.
const HIDDEN: &str = r#""(personal, not shown)""#;

/// Replaces sealed values without a key.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct RedactedStore {
    log: Arc<dyn EventLog>,
    /// The JSON that stands for each value. Without it, a value reads as if its person were erased, which fits its declaration.
    shown: Option<&'static str>,
}

impl RedactedStore {
    /// Reads from the store that holds the sealed values. Each one reads as its replacement.
    #[must_use]
    pub fn new(log: Arc<dyn EventLog>) -> Self {
        Self { log, shown: None }
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
impl EventLog for RedactedStore {
    async fn append(
        &self,
        _: Vec<EventCandidate>,
        _: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        Err(StoreError::Refused("this view of the event store is for reading".to_owned()).into())
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.redact_stream(self.log.read(subject, options))
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.redact_stream(self.log.observe(subject, options))
    }
}
