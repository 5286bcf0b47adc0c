//! The port to the event store, and one folder for each adapter behind it.

#[cfg(test)]
mod contract;
mod error;
pub mod eventsourcingdb;
pub mod memory;
mod options;
mod precondition;
mod scan;
pub mod sql;

use std::fmt;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::event::{EventCandidate, RecordedEvent, Subject};

pub use error::{AppendError, StoreError};
pub use options::{
    Bound, FromLatestEvent, IfEventIsMissing, InvalidOptions, ObserveOptions, Order, ReadOptions,
};
pub use precondition::{Conflict, Precondition};

/// Events as they come, ended by the first error.
pub type EventStream = BoxStream<'static, Result<RecordedEvent, StoreError>>;

/// Where events are kept. Every adapter passes the whole contract suite.
#[async_trait]
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Writes all candidates in order, or none. An `Ok` means that they are durable.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] when a precondition does not hold, [`AppendError::Unknown`] when
    /// nobody can say whether the events were written.
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError>;

    /// The events of a subject that are stored now, in the order asked for.
    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream;

    /// The stored events of a subject and then the new ones as they come. Never ends but by an
    /// error.
    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream;

    /// Whether the store answers, and writes where that can be told.
    ///
    /// # Errors
    /// It does not, and why.
    async fn health(&self) -> Result<(), StoreError>;

    /// A word for people: which store this is and where.
    fn description(&self) -> String;
}
