//! A log for tests that changes a part of another log.

use std::fmt;

use async_trait::async_trait;

use crate::{
    AppendError, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions,
    memory::MemoryStore,
};
use es_event::{EventCandidate, RecordedEvent, Subject};

/// A log that forwards to a store in memory what it does not define itself.
#[async_trait]
pub trait ForwardingLog: fmt::Debug + Send + Sync + 'static {
    /// Returns the store behind this log.
    fn inner(&self) -> MemoryStore;

    /// As [`EventLog::append`].
    async fn append_events(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.inner().append(candidates, preconditions).await
    }

    /// As [`EventLog::read`].
    fn read_events(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.inner().read(subject, options)
    }

    /// As [`EventLog::observe`].
    fn observe_events(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.inner().observe(subject, options)
    }
}

#[async_trait]
impl<L: ForwardingLog> EventLog for L {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.append_events(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.read_events(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.observe_events(subject, options)
    }
}
