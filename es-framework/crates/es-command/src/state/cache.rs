//! The cache of recently rebuilt states. A cached state needs only the events after it.

use std::{
    any::{Any, TypeId},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use moka::sync::Cache;

use super::{Evolve, RebuiltState};
use es_event::Subject;

/// The highest number of cached states.
const CAPACITY: u64 = 10_000;

/// One entry. A command takes the state out while it decides, which saves a copy.
type CacheSlot = Arc<Mutex<Option<Box<dyn Any + Send>>>>;

/// The key of a cached state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct StateCacheKey {
    state: TypeId,
    subject: Subject,
    recursive: bool,
}

/// The cached states of many subjects and types.
#[derive(Debug, Clone)]
pub(super) struct StateCache {
    slots: Cache<StateCacheKey, CacheSlot>,
    /// The number of erasures of personal data.
    erasures: Arc<RwLock<u64>>,
}

impl Default for StateCache {
    fn default() -> Self {
        let slots = Cache::new(CAPACITY);
        let erasures = Arc::default();
        Self { slots, erasures }
    }
}

impl StateCache {
    /// Removes and returns a state. Returns nothing while another command uses it.
    pub(super) fn take_state<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Option<RebuiltState<S>> {
        let slot = self
            .slots
            .get(&StateCacheKey::new::<S>(subject, recursive))?;
        let state = slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        state.downcast().ok().map(|rebuilt| *rebuilt)
    }

    /// Drops all states after an erasure of personal data, also those that are being rebuilt.
    pub(super) fn clear(&self) {
        let mut erasures = self
            .erasures
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *erasures = erasures.wrapping_add(1);
        self.slots.invalidate_all();
    }

    /// Returns the number of erasures so far.
    pub(super) fn erasures(&self) -> u64 {
        *self.erasures.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a state in the place of an older one, unless its events were read before an erasure.
    pub(super) fn put<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        rebuilt: RebuiltState<S>,
    ) {
        let erasures = self.erasures.read().unwrap_or_else(PoisonError::into_inner);
        if rebuilt.erasures == *erasures {
            let slot: CacheSlot = Arc::new(Mutex::new(Some(Box::new(rebuilt))));
            let key = StateCacheKey::new::<S>(subject, recursive);
            self.slots.insert(key, slot);
        }
    }
}

impl StateCacheKey {
    fn new<S: Evolve>(subject: &Subject, recursive: bool) -> Self {
        Self {
            state: TypeId::of::<S>(),
            subject: subject.clone(),
            recursive,
        }
    }
}
