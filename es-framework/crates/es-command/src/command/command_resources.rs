//! The resources that all commands of an application share.

use std::sync::Arc;

use super::{
    Clock, CommandError, RandomNumbers, Services,
    lock::SubjectLocks,
    past_store::{PastEnd, PastStore},
};
use crate::{
    state::{Snapshots, StateLoader},
    unique::{ClaimJob, ClaimRange, ClaimReport, UniqueKey, UniqueKeySource},
};
use es_event::{EventDescriptor, UniqueRules, Upcasters};
use es_store::EventLog;

/// The parts that all commands of an application share: the store, the states, the services and the
/// locks. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     command::{CommandResources, CommandContext, CommandDescriptor, CommandRequest},
///     prelude::*,
///     store::memory::MemoryStore,
/// };
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = pristine)]
/// struct PurchaseBookCommand {
///     id: String,
/// }
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {}
///
/// #[handler]
/// fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
///     BookPurchasedEvent {}
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_framework::command::CommandError> {
/// let resources = CommandResources::new(Arc::new(MemoryStore::new()), "library-service");
/// let purchase = CommandDescriptor::of::<PurchaseBookCommand>();
/// let request = CommandRequest {
///     body: br#"{"id":"42"}"#,
///     path_parameters: &[],
///     context: &CommandContext::default(),
/// };
/// let outcome = purchase.execute(&resources, request).await?;
/// assert_eq!((outcome.subject.as_str(), outcome.created), ("/books/42", true));
/// assert!(purchase.execute(&resources, request).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CommandResources {
    pub(super) store: Arc<dyn EventLog>,
    pub(super) source: Arc<str>,
    pub(super) states: StateLoader,
    pub(super) services: Services,
    pub(super) locks: SubjectLocks,
    pub(super) random: RandomNumbers,
    unique_keys: Arc<dyn UniqueKeySource>,
    /// The events with unique values.
    unique_events: Arc<[EventDescriptor]>,
}

impl CommandResources {
    /// Creates resources that append events with this `source` to `store`. Its only service is the
    /// system clock.
    #[must_use]
    pub fn new(store: Arc<dyn EventLog>, source: impl Into<Arc<str>>) -> Self {
        let random = RandomNumbers::system();
        Self {
            states: StateLoader::new(Arc::clone(&store)),
            store,
            source: source.into(),
            services: Services::default().with(Clock::system()),
            locks: SubjectLocks::new(&random),
            random,
            unique_keys: Arc::new(UniqueKey::from_bytes(&[])),
            unique_events: Arc::default(),
        }
    }

    /// Takes the key of the digests of unique values from here. Without it, their digests have no secret.
    #[doc(hidden)]
    #[must_use]
    pub fn with_unique_keys(self, unique_keys: Arc<dyn UniqueKeySource>) -> Self {
        Self {
            unique_keys,
            ..self
        }
    }

    /// Claims recorded values of these events with [`Self::claim_recorded_values`].
    #[doc(hidden)]
    #[must_use]
    pub fn with_unique_events(self, events: &[EventDescriptor]) -> Self {
        let with_rules = events
            .iter()
            .filter(|event| event.unique != UniqueRules::NONE);
        Self {
            unique_events: with_rules.copied().collect(),
            ..self
        }
    }

    /// Claims the unique values of the next events of a run, which may be older than their rules.
    ///
    /// # Errors
    /// A store does not answer, an event is unreadable, or others change a subject during every attempt.
    #[doc(hidden)]
    pub async fn claim_recorded_values(
        &self,
        range: ClaimRange,
    ) -> Result<ClaimReport, CommandError> {
        let job = ClaimJob {
            store: &*self.store,
            keys: &*self.unique_keys,
            source: &self.source,
            events: &self.unique_events,
            upcasters: self.states.upcasters(),
        };
        Ok(job.claim_next(range).await?)
    }

    /// Returns the source of the key of the digests of unique values.
    #[doc(hidden)]
    #[must_use]
    pub fn unique_keys(&self) -> &dyn UniqueKeySource {
        &*self.unique_keys
    }

    /// Injects these services into handlers.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        Self { services, ..self }
    }

    /// Returns the services that are injected into handlers and query handlers.
    #[doc(hidden)]
    #[must_use]
    pub const fn services(&self) -> &Services {
        &self.services
    }

    /// Takes back-offs and lock stripes from these numbers.
    #[must_use]
    pub fn with_random_numbers(self, random: RandomNumbers) -> Self {
        let locks = SubjectLocks::new(&random);
        Self {
            locks,
            random,
            ..self
        }
    }

    /// Upcasts stored events with these upcasters before states are rebuilt.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        let states = self.states.with_upcasters(upcasters);
        Self { states, ..self }
    }

    /// Stores snapshots of the states of long subjects.
    #[must_use]
    pub fn with_snapshots(self, snapshots: Snapshots) -> Self {
        let states = self.states.with_snapshots(snapshots);
        Self { states, ..self }
    }

    /// Returns resources over another view of the store, without cached states and snapshots.
    #[doc(hidden)]
    #[must_use]
    pub fn with_other_store(&self, store: Arc<dyn EventLog>) -> Self {
        Self {
            states: self.states.with_other_store(Arc::clone(&store)),
            store,
            ..self.clone()
        }
    }

    /// Returns the snapshots of the states.
    #[doc(hidden)]
    #[must_use]
    pub fn snapshots(&self) -> Option<Snapshots> {
        self.states.snapshots().cloned()
    }

    /// Returns the loader of the states.
    #[doc(hidden)]
    #[must_use]
    pub const fn states(&self) -> &StateLoader {
        &self.states
    }

    /// Returns the clock that handlers take.
    #[doc(hidden)]
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.services.clock()
    }

    /// Returns a loader of the states as they were at the end of a part of the events.
    pub(crate) fn states_at(&self, end: PastEnd) -> StateLoader {
        let past = PastStore::new(Arc::clone(&self.store), end);
        self.states.with_other_store(Arc::new(past))
    }
}
