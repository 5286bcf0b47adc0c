//! The catalog of an event store: the part of the port that servers and operators use.

use std::{fmt, future::ready};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};

use super::{
    DamageSettlement, EventSchema, KnownEventType, LogDamage, ReadOptions, RegisterError,
    StoreError, VerificationScope,
};
use es_event::{EventType, LineFormat, Subject};

/// A stream of frames with whole lines of the protocol, many in each. It ends after the first error.
///
/// ```
/// use es_store::{LineStream, StoreError};
/// use futures_util::TryStreamExt as _;
///
/// async fn length(lines: LineStream) -> Result<usize, StoreError> {
///     lines.try_fold(0, async |length, frame| Ok(length + frame.len())).await
/// }
/// ```
pub type LineStream = BoxStream<'static, Result<Bytes, StoreError>>;

/// A stream of subjects in order. It ends after the first error.
///
/// ```
/// use es_event::Subject;
/// use es_store::{StoreCatalog as _, SubjectStream, memory::MemoryStore};
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let subjects: SubjectStream = MemoryStore::new().read_subjects(Subject::root());
/// assert_eq!(subjects.count().await, 0);
/// # }
/// ```
pub type SubjectStream = BoxStream<'static, Result<Subject, StoreError>>;

/// A stream of event types in order. It ends after the first error.
///
/// ```
/// use es_store::{EventTypeStream, StoreCatalog as _, memory::MemoryStore};
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let types: EventTypeStream = MemoryStore::new().read_event_types();
/// assert_eq!(types.count().await, 0);
/// # }
/// ```
pub type EventTypeStream = BoxStream<'static, Result<KnownEventType, StoreError>>;

/// Subjects, event types, schemas and the health of an event store. Only a whole store implements it, no decorator.
/// A store that an application provides can refuse to list subjects and types and to register schemas, as the default
/// methods do.
///
/// ```
/// use es_store::{StoreCatalog as _, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// store.health().await?;
/// let unknown = store.read_event_type("com.example.library.BookPurchasedEvent".parse()?);
/// assert!(unknown.await?.is_none());
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait StoreCatalog: fmt::Debug + Send + Sync + 'static {
    /// Lists the subjects at and below `base`, sorted: the subjects with events, and their parents up
    /// to `base`. An empty store has none.
    fn read_subjects(&self, base: Subject) -> SubjectStream {
        let _ = base;
        stream::iter([Err(unsupported("listing subjects"))]).boxed()
    }

    /// Lists the subjects directly below `base` that come after `after`: at most `limit`, each once. Every store has
    /// an order of its own. The default reads all subjects below `base`.
    ///
    /// # Errors
    /// The store does not answer.
    async fn read_child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        let listed = self.read_subjects(base.clone());
        let children = listed.try_filter(|subject| {
            let is_new = after.as_ref().is_none_or(|after| subject > after);
            ready(is_new && subject.parent().as_ref() == Some(&base))
        });
        children.take(limit).try_collect().await
    }

    /// Lists the types of all events and the types with a schema, sorted.
    fn read_event_types(&self) -> EventTypeStream {
        stream::iter([Err(unsupported("listing event types"))]).boxed()
    }

    /// Returns one event type, if the store knows it.
    ///
    /// # Errors
    /// The store does not answer.
    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        let _ = event_type;
        Err(unsupported("looking up an event type"))
    }

    /// Registers a schema, which all later events of the type must follow. It can never be changed.
    ///
    /// # Errors
    /// The type already has a schema, or an event that does not follow this one.
    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        let _ = (event_type, schema);
        Err(unsupported("registering a schema").into())
    }

    /// Reads the same events as [`EventLog::read`](super::EventLog::read) as rendered lines, byte for byte the same as the
    /// lines of these events. Returns `None` if the store cannot render lines without decoding
    /// events.
    fn read_lines(
        &self,
        subject: &Subject,
        options: &ReadOptions,
        shape: LineFormat,
    ) -> Option<LineStream> {
        let _ = (subject, options, shape);
        None
    }

    /// Compares what the store derives from its events, such as indexes and the list of event types, and the schemas
    /// with the events. Returns the first damage of each table. A store that derives nothing has none. The progress is the
    /// number of events and rows that were looked up so far.
    ///
    /// # Errors
    /// The store does not answer.
    #[doc(hidden)]
    async fn find_table_damage(
        &self,
        scope: VerificationScope,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Vec<LogDamage>, StoreError> {
        let _ = (scope, progress);
        Ok(Vec::new())
    }

    /// Returns the places of the damage that is recorded.
    ///
    /// # Errors
    /// The store does not answer.
    #[doc(hidden)]
    async fn damaged_places(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Records the outcome of a verification: opens a whole log for writing, and closes a damaged one. A store that does
    /// not record damage does nothing.
    ///
    /// # Errors
    /// The store does not answer.
    #[doc(hidden)]
    async fn settle_damage(&self, settlement: DamageSettlement) -> Result<(), StoreError> {
        let _ = settlement;
        Ok(())
    }

    /// Checks that the store answers and, where it reports that, that it can write.
    ///
    /// # Errors
    /// The store does not answer or cannot write. The error contains the reason.
    async fn health(&self) -> Result<(), StoreError>;

    /// Returns true if the events end with the process, as those of a test do.
    fn is_volatile(&self) -> bool {
        false
    }

    /// Describes the store and its address for the log.
    fn description(&self) -> String;
}

fn unsupported(what: &str) -> StoreError {
    StoreError::Refused(format!("{what} is not supported by this event store"))
}
