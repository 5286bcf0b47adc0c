//! The port to the event store, its adapter in memory, backup and verification.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

#[cfg(panic = "abort")]
compile_error!(
    "es-framework needs `panic = \"unwind\"`, which is the default: remove `panic = \"abort\"` from the profile in \
     Cargo.toml. A schema check that exceeds its budget unwinds, and so does a projection that fails, so with `abort` \
     a client or an event could end the process."
);

pub mod backup;
pub mod catalogue;
#[cfg(any(test, feature = "contract"))]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the contract is a test suite"
)]
pub mod contract;
mod error;
#[doc(hidden)]
pub mod event_row;
mod event_time_lead;
mod inline_reads;
mod log_damage;
pub mod memory;
mod meter;
pub mod options;
mod postgres_scheme;
mod precondition;
pub mod scan;
pub mod schema;
#[doc(hidden)]
pub mod schema_work;
#[doc(hidden)]
pub mod secret_file;
#[doc(hidden)]
pub mod simulation;
pub mod subjects;
mod unreadable_event;
mod verify;
pub mod write;

use std::{fmt, future::ready};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};

use es_event::{EventCandidate, EventId, EventType, LineFormat, RecordedEvent, Subject};

pub use catalogue::KnownEventType;
pub use error::{AppendError, RegisterError, StoreError};
#[doc(hidden)]
pub use event_time_lead::event_time_lead;
#[doc(hidden)]
pub use inline_reads::max_inline_reads;
pub use log_damage::{DamagePlace, LogDamage};
#[doc(hidden)]
pub use log_damage::{DamageSettlement, describe_closed_log};
#[doc(hidden)]
pub use meter::{StoreMeter, install_meter, measure};
pub use options::{
    Bound, FromLatestEvent, IdRange, IfEventIsMissing, InvalidOptions, ObserveOptions, Order,
    ReadOptions,
};
#[doc(hidden)]
pub use postgres_scheme::strip_postgres_scheme;
pub use precondition::{Conflict, Precondition, PreconditionScope};
pub use schema::{EventSchema, InvalidSchema, SchemaConflict};
#[doc(hidden)]
pub use unreadable_event::{find_unreadable_event, newest_id_or_bound};
pub use verify::{Chain, ChainFlaw, VerificationProgress, VerificationReport, verify};
#[doc(hidden)]
pub use verify::{NEWEST, VerificationScope, verify_scope};

/// A stream of events. It ends after the first error.
///
/// ```
/// use es_event::RecordedEvent;
/// use es_store::{EventStream, StoreError};
/// use futures_util::TryStreamExt as _;
///
/// async fn first(mut events: EventStream) -> Result<Option<RecordedEvent>, StoreError> {
///     events.try_next().await
/// }
/// ```
pub type EventStream = BoxStream<'static, Result<RecordedEvent, StoreError>>;

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
/// use es_store::{EventStore, SubjectStream, memory::MemoryStore};
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
/// use es_store::{EventStore, EventTypeStream, memory::MemoryStore};
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let types: EventTypeStream = MemoryStore::new().read_event_types();
/// assert_eq!(types.count().await, 0);
/// # }
/// ```
pub type EventTypeStream = BoxStream<'static, Result<KnownEventType, StoreError>>;

/// A store of events. Every adapter passes the whole contract suite.
///
/// ```
/// use es_event::{EventCandidate, EventType, Subject};
/// use es_store::{EventStore, Precondition, ReadOptions, memory::MemoryStore};
/// use futures_util::TryStreamExt as _;
/// use serde_json::{json, value::to_raw_value};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let book: Subject = "/books/42".parse()?;
/// let purchased = EventCandidate {
///     source: "library-service".into(),
///     subject: book.clone(),
///     event_type: EventType::declared("com.example.library.BookPurchasedEvent"),
///     data: to_raw_value(&json!({"payload": {"title": "The Hobbit"}}))?,
///     trace: None,
/// };
/// let pristine = [Precondition::SubjectIsPristine(book.clone())];
/// store.append(vec![purchased.clone()], pristine.to_vec()).await?;
/// assert!(store.append(vec![purchased], pristine.to_vec()).await.is_err());
///
/// let events: Vec<_> = store.read(book, ReadOptions::default()).try_collect().await?;
/// assert_eq!(events.len(), 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Appends all candidates in order, or none. After `Ok` they are durable.
    ///
    /// # Errors
    /// [`AppendError::Conflict`] if a precondition does not hold, [`AppendError::Unknown`] if it is
    /// unknown whether the events are stored.
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError>;

    /// Reads the stored events of a subject in the requested order.
    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream;

    /// Reads the same events as [`read`](Self::read) as rendered lines, byte for byte the same as the
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

    /// Subscribes to a subject: returns the stored events and then the new ones. The stream ends only
    /// with an error.
    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream;

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

/// Opens what a decorator of the event store has sealed, for readers of its events that do not use it.
#[doc(hidden)]
#[async_trait]
pub trait EventOpener: fmt::Debug + Send + Sync + 'static {
    /// Returns the events as the application sees them.
    async fn open_events(
        &self,
        events: Vec<RecordedEvent>,
    ) -> Result<Vec<RecordedEvent>, StoreError>;
}

/// Returns the latest event of a subject, or of a subject and all subjects below it.
#[doc(hidden)]
pub async fn latest_event(
    store: &dyn EventStore,
    subject: Subject,
    recursive: bool,
) -> Result<Option<RecordedEvent>, StoreError> {
    let newest_first = ReadOptions {
        recursive,
        order: Order::Antichronological,
        ..ReadOptions::default()
    };
    let mut newest = store.read(subject, newest_first.first_only());
    newest.next().await.transpose()
}

/// Returns the id of the newest event, if there is one.
#[doc(hidden)]
pub async fn newest_id(store: &dyn EventStore) -> Result<Option<EventId>, StoreError> {
    let newest = latest_event(store, Subject::root(), true).await?;
    Ok(newest.map(|event| event.id))
}

/// Returns the event with this id, if it is stored.
#[doc(hidden)]
pub async fn event_with_id(
    store: &dyn EventStore,
    id: EventId,
) -> Result<Option<RecordedEvent>, StoreError> {
    let only = Some(Bound::Inclusive(id));
    let options = ReadOptions {
        lower_bound: only,
        upper_bound: only,
        ..ReadOptions::recursive()
    };
    store
        .read(Subject::root(), options)
        .next()
        .await
        .transpose()
}

fn unsupported(what: &str) -> StoreError {
    StoreError::Refused(format!("{what} is not supported by this event store"))
}
