//! The log of events: the part of the port that commands, read models and reactions use, and that decorators forward.

use std::fmt;

use async_trait::async_trait;
use futures_util::stream::{BoxStream, StreamExt as _};

use super::{AppendError, Bound, ObserveOptions, Order, Precondition, ReadOptions, StoreError};
use es_event::{EventCandidate, EventId, RecordedEvent, Subject};

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

/// The log of events.
///
/// ```
/// use es_event::{EventCandidate, EventType, Subject};
/// use es_store::{EventLog, Precondition, ReadOptions, memory::MemoryStore};
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
pub trait EventLog: fmt::Debug + Send + Sync + 'static {
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

    /// Subscribes to a subject: returns the stored events and then the new ones. The stream ends only
    /// with an error.
    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream;
}

/// Returns the latest event of a subject, or of a subject and all subjects below it.
///
/// # Errors
/// The store does not answer.
///
/// ```
/// use es_event::Subject;
/// use es_store::{latest_event, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_store::StoreError> {
/// assert!(latest_event(&MemoryStore::new(), Subject::root(), true).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub async fn latest_event(
    log: &dyn EventLog,
    subject: Subject,
    recursive: bool,
) -> Result<Option<RecordedEvent>, StoreError> {
    let newest_first = ReadOptions {
        recursive,
        order: Order::Antichronological,
        ..ReadOptions::default()
    };
    let mut newest = log.read(subject, newest_first.first_only());
    newest.next().await.transpose()
}

/// Returns the id of the newest event, if there is one.
///
/// # Errors
/// The store does not answer.
///
/// ```
/// use es_store::{newest_id, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_store::StoreError> {
/// assert!(newest_id(&MemoryStore::new()).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub async fn newest_id(log: &dyn EventLog) -> Result<Option<EventId>, StoreError> {
    let newest = latest_event(log, Subject::root(), true).await?;
    Ok(newest.map(|event| event.id))
}

/// Returns the event with this id, if it is stored.
///
/// # Errors
/// The store does not answer.
///
/// ```
/// use es_event::EventId;
/// use es_store::{event_with_id, memory::MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_store::StoreError> {
/// assert!(event_with_id(&MemoryStore::new(), EventId::FIRST).await?.is_none());
/// # Ok(())
/// # }
/// ```
pub async fn event_with_id(
    log: &dyn EventLog,
    id: EventId,
) -> Result<Option<RecordedEvent>, StoreError> {
    let only = Some(Bound::Inclusive(id));
    let options = ReadOptions {
        lower_bound: only,
        upper_bound: only,
        ..ReadOptions::recursive()
    };
    log.read(Subject::root(), options).next().await.transpose()
}
