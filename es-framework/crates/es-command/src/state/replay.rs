//! A state without its Rust type that is folded event by event, so that each step can be shown.

use std::fmt;

use serde_json::Value;

use super::{Evolve, RebuiltState, rebuilt_state::FoldState};
use es_event::{DecodeError, RecordedEvent, Upcasters};

/// A state that is folded event by event and shown as JSON after each one.
///
/// ```
/// use es_framework::{event::Upcasters, prelude::*, state::StateDescriptor};
/// # use es_framework::event::{EventCandidate, EventId, EventTime, EventType, Hash, Metadata, RecordedEvent, encode};
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// #[derive(State)]
/// struct Book {
///     title: String,
/// }
///
/// #[evolve]
/// impl Book {
///     fn purchased(event: &BookPurchasedEvent) -> Self {
///         Self { title: event.title.clone() }
///     }
/// }
///
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared(BookPurchasedEvent::TYPE),
/// #     data: encode(&Metadata::default(), &BookPurchasedEvent { title: "Emma".into() })?,
/// #     trace: None,
/// # };
/// # let purchased = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// let mut book = StateDescriptor::of::<Book>().begin_replay(Upcasters::default());
/// assert_eq!(book.to_json()?, None);
/// book.apply(&purchased)?;
/// assert_eq!(book.to_json()?, Some(serde_json::json!({ "title": "Emma" })));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct StateReplay {
    upcasters: Upcasters,
    state: Box<dyn FoldState>,
}

impl StateReplay {
    /// Starts the replay of a state of type `S`.
    pub(super) fn begin_replay<S: Evolve>(upcasters: Upcasters) -> Self {
        let state = Box::new(RebuiltState::<S>::EMPTY);
        Self { upcasters, state }
    }

    /// Folds the next event of the subject. Events of other types change nothing.
    ///
    /// # Errors
    /// The event does not fit its declaration. The replay cannot continue then.
    pub fn apply(&mut self, event: &RecordedEvent) -> Result<(), DecodeError> {
        self.state.apply(&self.upcasters, event)
    }

    /// Returns the state after the last applied event as JSON, or `None` if no event has created it.
    ///
    /// # Errors
    /// The state has no JSON form, for example because of a map whose keys are not texts.
    pub fn to_json(&self) -> serde_json::Result<Option<Value>> {
        self.state.to_json()
    }
}

impl fmt::Debug for StateReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateReplay").finish_non_exhaustive()
    }
}
