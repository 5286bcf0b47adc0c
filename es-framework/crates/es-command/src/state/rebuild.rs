//! Rebuilds the state of a subject from its events.

use std::sync::Arc;

use futures_util::{FutureExt as _, TryStreamExt as _, future::BoxFuture};

use super::{
    Evolve, LastEvent, RebuiltState, Snapshots,
    cache::StateCache,
    metrics::{self, RebuildStart},
    rebuilt_state::FoldState,
};
use es_event::{DecodeError, Hash, Subject, Upcasters};
use es_store::{Bound, EventLog, EventStream, ReadOptions, StoreError};

/// The number of events after which a new snapshot is saved.
const SNAPSHOT_INTERVAL: u64 = 500;

/// The reason why a state cannot be rebuilt.
///
/// ```
/// use es_framework::state::RebuildError;
///
/// /// Returns the HTTP status code.
/// fn status_code(error: &RebuildError) -> u16 {
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

/// Rebuilds states from the events of a store. Cheap to clone; clones share one cache.
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
    store: Arc<dyn EventLog>,
    upcasters: Upcasters,
    cache: StateCache,
    snapshots: Option<Snapshots>,
}

impl StateLoader {
    /// Creates a loader that reads the events of this store without upcasters and snapshots.
    #[must_use]
    pub fn new(store: Arc<dyn EventLog>) -> Self {
        Self {
            store,
            upcasters: Upcasters::default(),
            cache: StateCache::default(),
            snapshots: None,
        }
    }

    /// Returns the upcasters.
    pub(crate) const fn upcasters(&self) -> &Upcasters {
        &self.upcasters
    }

    /// Upcasts old events with these upcasters.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        Self { upcasters, ..self }
    }

    /// Stores snapshots of the states of long subjects.
    #[must_use]
    pub fn with_snapshots(self, snapshots: Snapshots) -> Self {
        let snapshots = Some(snapshots);
        Self { snapshots, ..self }
    }

    /// Returns the snapshots of the states.
    pub(crate) const fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_ref()
    }

    /// Returns a loader that reads another store, with an empty cache and without snapshots.
    pub(crate) fn with_other_store(&self, store: Arc<dyn EventLog>) -> Self {
        Self::new(store).with_upcasters(self.upcasters.clone())
    }

    /// Rebuilds the current state of a subject from the cached state and the events after it. Does not
    /// trust a cached state whose last event the store lacks, as after a failover that lost events.
    ///
    /// # Errors
    /// See [`RebuildError`].
    pub async fn rebuild<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Result<RebuiltState<S>, RebuildError> {
        let erasures = self.cache.erasures();
        let rebuilt = self.rebuild_from_newest(subject, recursive).await?;
        Ok(RebuiltState {
            erasures,
            ..rebuilt
        })
    }

    /// Drops all cached states and all snapshots, also those that are being made, since their events hold
    /// personal data that is erased.
    #[doc(hidden)]
    pub async fn forget_states(&self) -> Result<(), String> {
        self.cache.clear();
        let Some(snapshots) = &self.snapshots else {
            return Ok(());
        };
        // A command that began meanwhile may have loaded a snapshot.
        let cache = self.cache.clone();
        snapshots.delete_all(move || cache.clear()).await
    }

    /// Returns true if there is no file with snapshots.
    #[doc(hidden)]
    #[must_use]
    pub fn has_no_snapshots(&self) -> bool {
        self.snapshots.as_ref().is_none_or(Snapshots::is_empty)
    }

    /// Returns true if a snapshot contains one of the texts.
    #[doc(hidden)]
    pub async fn has_snapshot_with_text(&self, texts: Vec<String>) -> Result<bool, String> {
        match &self.snapshots {
            Some(snapshots) => snapshots.contain_text(texts).await,
            None => Ok(false),
        }
    }

    /// Returns the hash of the announcement of the last erasure after which all snapshots were deleted.
    #[doc(hidden)]
    pub async fn load_last_erasure(&self) -> Option<Hash> {
        self.snapshots.as_ref()?.load_last_erasure().await
    }

    /// Records the hash of the announcement of an erasure after which all snapshots were deleted.
    #[doc(hidden)]
    pub async fn record_erasure(&self, erasure: Hash) {
        if let Some(snapshots) = &self.snapshots {
            snapshots.record_erasure(erasure).await;
        }
    }

    async fn rebuild_from_newest<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Result<RebuiltState<S>, RebuildError> {
        if let Some(mut cached) = self.cache.take_state(subject, recursive) {
            if let Some(events) = self
                .fold_newer_events(subject, recursive, &mut cached)
                .await?
            {
                metrics::count_rebuild(S::NAME, RebuildStart::Cache, events);
                return Ok(cached);
            }
            tracing::warn!(
                %subject,
                "the event store lacks an event that this process has read, as after a failover that lost events; the state is rebuilt without it, and commands that were confirmed before may have to be sent again"
            );
        }
        if let Some(mut snapshot) = self.load_snapshot(subject, recursive).await
            && let Some(events) = self
                .fold_newer_events(subject, recursive, &mut snapshot)
                .await?
        {
            metrics::count_rebuild(S::NAME, RebuildStart::Snapshot, events);
            return Ok(snapshot);
        }
        let mut rebuilt = RebuiltState::EMPTY;
        let events = self
            .fold_newer_events(subject, recursive, &mut rebuilt)
            .await?;
        metrics::count_rebuild(
            S::NAME,
            RebuildStart::FirstEvent,
            events.unwrap_or_default(),
        );
        Ok(rebuilt)
    }

    /// Caches a state for the next command on its subject. Saves a snapshot if many events were
    /// read since the last one.
    pub fn store_in_cache<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        mut rebuilt: RebuiltState<S>,
    ) {
        if rebuilt.events_since_snapshot >= SNAPSHOT_INTERVAL
            && let Some(snapshots) = &self.snapshots
            && let (Some(state), Some(latest)) = (&rebuilt.state, rebuilt.latest)
        {
            let (cache, begun) = (self.cache.clone(), rebuilt.erasures);
            let is_current = move || begun == cache.erasures();
            snapshots.save(subject, recursive, state, latest, is_current);
            rebuilt.events_since_snapshot = 0;
        }
        self.cache.put(subject, recursive, rebuilt);
    }

    async fn load_snapshot<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Option<RebuiltState<S>> {
        let snapshots = self.snapshots.as_ref()?;
        let (state, latest) = snapshots.load_snapshot::<S>(subject, recursive).await?;
        Some(RebuiltState {
            state: Some(state),
            latest: Some(latest),
            events_since_snapshot: 0,
            erasures: 0,
        })
    }

    /// Folds the events after the last one of a state into it, and returns the number of events that were read.
    /// Returns nothing if the last one is not in the store, as after a restore from a backup.
    fn fold_newer_events<'a>(
        &'a self,
        subject: &'a Subject,
        recursive: bool,
        state: &'a mut dyn FoldState,
    ) -> BoxFuture<'a, Result<Option<u32>, RebuildError>> {
        async move {
            let latest = state.latest();
            let lower_bound = latest.map(|latest| Bound::Inclusive(latest.id));
            let mut events = self.read(subject, recursive, lower_bound);
            let mut count = 0_u32;
            if latest.is_some() {
                let first = events.try_next().await?;
                if first.map(|event| LastEvent::from_event(&event)) != latest {
                    return Ok(None);
                }
                count = 1;
            }
            while let Some(event) = events.try_next().await? {
                state.apply(&self.upcasters, &event)?;
                count = count.saturating_add(1);
            }
            Ok(Some(count))
        }
        .boxed()
    }

    /// Reads the events of a subject.
    fn read(&self, subject: &Subject, recursive: bool, lower_bound: Option<Bound>) -> EventStream {
        let options = ReadOptions {
            recursive,
            lower_bound,
            ..ReadOptions::default()
        };
        self.store.read(subject.clone(), options)
    }
}
