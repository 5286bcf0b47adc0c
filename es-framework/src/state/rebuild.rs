//! From the events of a subject to its state.

use std::sync::Arc;

use futures_util::TryStreamExt as _;

use super::{
    Evolve, Snapshots,
    cache::StateCache,
    metrics::{self, Found},
};
use crate::{
    event::{DecodeError, EventId, Hash, RecordedEvent, Subject, Upcasters},
    store::{Bound, EventStore, ReadOptions, StoreError},
};

/// After so many events a state is worth a snapshot.
const SNAPSHOT_EVERY: u64 = 500;

/// A state, and the last event that it follows from.
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
/// async fn was_ever_there(states: &StateLoader, book: &Subject) -> Result<bool, RebuildError> {
///     let rebuilt: RebuiltState<Book> = states.rebuild(book, false).await?;
///     Ok(rebuilt.latest.is_some())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuiltState<S> {
    /// Nothing if no event led to one.
    pub state: Option<S>,
    /// The last event of the subject, be it one that the state does not follow from.
    pub latest: Option<LastEvent>,
    /// How many events were read since the last snapshot.
    unsaved: u64,
}

/// The last event of a subject.
///
/// ```
/// use es_framework::{event::{EventId, Hash}, state::LastEvent};
///
/// let seen = LastEvent { id: EventId::FIRST, hash: Hash::from_bytes([1; 32]) };
/// // The same id in a store that was put back into an earlier state.
/// assert_ne!(seen, LastEvent { hash: Hash::from_bytes([2; 32]), ..seen });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastEvent {
    /// Its id.
    pub id: EventId,
    /// Its hash, by which another store's event of the same id is told apart.
    pub hash: Hash,
}

/// A state that cannot be told.
///
/// ```
/// use es_framework::state::RebuildError;
///
/// /// What is passed on to whoever asked.
/// fn answer(error: &RebuildError) -> u16 {
///     match error {
///         RebuildError::Store(error) if error.is_transient() => 503,
///         RebuildError::Store(_) | RebuildError::Decode(_) => 500,
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The event store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored event does not fit its declaration.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Rebuilds states. Cheap to clone; clones share what they remember.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{prelude::*, state::StateLoader, store::memory::MemoryStore};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[derive(State)]
/// # struct Book {}
/// # #[evolve]
/// # impl Book {
/// #     fn purchased(_: &BookPurchasedEvent) -> Self { Self {} }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let states = StateLoader::new(Arc::new(MemoryStore::new()));
/// let book = states.rebuild::<Book>(&"/books/42".parse()?, false).await?;
/// assert!(book.state.is_none() && book.latest.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StateLoader {
    store: Arc<dyn EventStore>,
    upcasters: Upcasters,
    cache: StateCache,
    snapshots: Option<Snapshots>,
}

impl<S> RebuiltState<S> {
    const NEW: Self = Self {
        state: None,
        latest: None,
        unsaved: 0,
    };
}

impl StateLoader {
    /// StateLoader of the events in this store, which are read as they were stored.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>) -> Self {
        Self {
            store,
            upcasters: Upcasters::default(),
            cache: StateCache::default(),
            snapshots: None,
        }
    }

    /// Reads old events by these.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        Self { upcasters, ..self }
    }

    /// Keeps snapshots of the states of long subjects, too.
    #[must_use]
    pub fn with_snapshots(self, snapshots: Snapshots) -> Self {
        let snapshots = Some(snapshots);
        Self { snapshots, ..self }
    }

    /// The state of a subject as of now, from what is remembered of it and the events since.
    ///
    /// # Errors
    /// See [`RebuildError`].
    pub async fn rebuild<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Result<RebuiltState<S>, RebuildError> {
        if let Some(known) = self.cache.take(subject, recursive) {
            metrics::found::<S>(Found::Memory);
            return self.go_on(subject, recursive, known).await;
        }
        self.rebuild_afresh(subject, recursive).await
    }

    /// The same without what this process remembers, which a store that was put back into an
    /// earlier state has made wrong.
    ///
    /// # Errors
    /// See [`RebuildError`].
    pub async fn rebuild_afresh<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Result<RebuiltState<S>, RebuildError> {
        if let Some(saved) = self.saved(subject, recursive).await?
            && let Some(rebuilt) = self.go_on_if_same(subject, recursive, saved).await?
        {
            metrics::found::<S>(Found::Snapshot);
            return Ok(rebuilt);
        }
        metrics::found::<S>(Found::Nothing);
        self.go_on(subject, recursive, RebuiltState::NEW).await
    }

    /// Remembers a state for the next command on its subject.
    pub fn keep<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        mut rebuilt: RebuiltState<S>,
    ) {
        if rebuilt.unsaved >= SNAPSHOT_EVERY
            && let Some(snapshots) = &self.snapshots
            && let (Some(state), Some(latest)) = (&rebuilt.state, rebuilt.latest)
        {
            snapshots.save(subject, recursive, state, latest);
            rebuilt.unsaved = 0;
        }
        self.cache.put(subject, recursive, rebuilt);
    }

    async fn saved<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Result<Option<RebuiltState<S>>, RebuildError> {
        let Some(snapshots) = &self.snapshots else {
            return Ok(None);
        };
        let saved = snapshots.load::<S>(subject, recursive).await;
        Ok(saved.map(|(state, latest)| RebuiltState {
            state: Some(state),
            latest: Some(latest),
            unsaved: 0,
        }))
    }

    /// Folds the events after those that are known.
    async fn go_on<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        known: RebuiltState<S>,
    ) -> Result<RebuiltState<S>, RebuildError> {
        let options = ReadOptions {
            recursive,
            lower_bound: known.latest.map(|latest| Bound::Exclusive(latest.id)),
            ..ReadOptions::default()
        };
        let mut events = self.store.read(subject.clone(), options);
        let mut rebuilt = known;
        let mut count = 0_u32;
        while let Some(event) = events.try_next().await? {
            self.fold(&mut rebuilt, &event)?;
            count = count.saturating_add(1);
        }
        metrics::rebuilt::<S>(count);
        Ok(rebuilt)
    }

    /// Goes on from a snapshot, if the event that it ends with is still the same one.
    async fn go_on_if_same<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        saved: RebuiltState<S>,
    ) -> Result<Option<RebuiltState<S>>, RebuildError> {
        let options = ReadOptions {
            recursive,
            lower_bound: saved.latest.map(|latest| Bound::Inclusive(latest.id)),
            ..ReadOptions::default()
        };
        let mut events = self.store.read(subject.clone(), options);
        let first = events.try_next().await?;
        if first.map(|event| LastEvent::of(&event)) != saved.latest {
            return Ok(None);
        }
        let mut rebuilt = saved;
        let mut count = 1_u32;
        while let Some(event) = events.try_next().await? {
            self.fold(&mut rebuilt, &event)?;
            count = count.saturating_add(1);
        }
        metrics::rebuilt::<S>(count);
        Ok(Some(rebuilt))
    }

    fn fold<S: Evolve>(
        &self,
        rebuilt: &mut RebuiltState<S>,
        event: &RecordedEvent,
    ) -> Result<(), DecodeError> {
        self.upcasters.read(event, |view| {
            rebuilt.state = S::evolve(rebuilt.state.take(), &view)?;
            Ok::<_, DecodeError>(())
        })?;
        rebuilt.latest = Some(LastEvent::of(event));
        rebuilt.unsaved = rebuilt.unsaved.saturating_add(1);
        Ok(())
    }
}

impl LastEvent {
    fn of(event: &RecordedEvent) -> Self {
        let RecordedEvent { id, hash, .. } = *event;
        Self { id, hash }
    }
}
