//! A rebuilt state and its last event.

use serde_json::Value;

use super::Evolve;
use es_event::{DecodeError, EventId, Hash, RecordedEvent, Upcasters};

/// A state and the last event that was folded into it.
///
/// ```
/// # use es_framework::state::{RebuildError, RebuiltState, StateLoader};
/// # use es_framework::{event::Subject, prelude::*};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// async fn has_events(states: &StateLoader, book: &Subject) -> Result<bool, RebuildError> {
///     let rebuilt: RebuiltState<Book> = states.rebuild(book, false).await?;
///     Ok(rebuilt.latest.is_some())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltState<S> {
    /// The state. It is missing if no event leads to one.
    pub state: Option<S>,
    /// The last event of the subject, even if the state ignores its type.
    pub latest: Option<LastEvent>,
    /// The number of events that were read since the last snapshot.
    pub(super) events_since_snapshot: u64,
    /// The number of erasures of personal data before the events were read.
    pub(super) erasures: u64,
}

/// The last event of a subject.
///
/// ```
/// use es_framework::{event::{EventId, Hash}, state::LastEvent};
///
/// let seen = LastEvent { id: EventId::FIRST, hash: Hash::from_bytes([1; 32]) };
/// // After a restore from a backup, the store can have another event with the same id.
/// assert_ne!(seen, LastEvent { hash: Hash::from_bytes([2; 32]), ..seen });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastEvent {
    /// The event's id.
    pub id: EventId,
    /// The event's hash. An event of a restored store can have the same id, but not the same hash.
    pub hash: Hash,
}

impl<S> RebuiltState<S> {
    pub(super) const EMPTY: Self = Self {
        state: None,
        latest: None,
        events_since_snapshot: 0,
        erasures: 0,
    };
}

impl LastEvent {
    pub(super) fn from_event(event: &RecordedEvent) -> Self {
        let RecordedEvent { id, hash, .. } = *event;
        Self { id, hash }
    }
}

/// A state of any type that events are folded into, so that the code around the fold is compiled once.
pub(super) trait FoldState: Send {
    /// Folds the next event of the scope. Events of other types change nothing.
    fn apply(&mut self, upcasters: &Upcasters, event: &RecordedEvent) -> Result<(), DecodeError>;

    /// Returns the last event that was folded.
    fn latest(&self) -> Option<LastEvent>;

    /// Returns the state as JSON.
    fn to_json(&self) -> serde_json::Result<Option<Value>>;
}

impl<S: Evolve> FoldState for RebuiltState<S> {
    fn apply(&mut self, upcasters: &Upcasters, event: &RecordedEvent) -> Result<(), DecodeError> {
        upcasters.read(event, |view| {
            self.state = S::evolve(self.state.take(), &view)?;
            Ok::<_, DecodeError>(())
        })?;
        self.latest = Some(LastEvent::from_event(event));
        self.events_since_snapshot = self.events_since_snapshot.saturating_add(1);
        Ok(())
    }

    fn latest(&self) -> Option<LastEvent> {
        self.latest
    }

    fn to_json(&self) -> serde_json::Result<Option<Value>> {
        self.state.as_ref().map(serde_json::to_value).transpose()
    }
}
