//! The cache of recently rebuilt states. A cached state needs only the events after it.

use std::{
    any::{Any, TypeId},
    sync::{Arc, Mutex, PoisonError},
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
}

impl Default for StateCache {
    fn default() -> Self {
        let slots = Cache::new(CAPACITY);
        Self { slots }
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

    /// Drops all states.
    pub(super) fn clear(&self) {
        self.slots.invalidate_all();
    }

    /// Stores a state in the place of an older one.
    pub(super) fn put<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        rebuilt: RebuiltState<S>,
    ) {
        let slot: CacheSlot = Arc::new(Mutex::new(Some(Box::new(rebuilt))));
        let key = StateCacheKey::new::<S>(subject, recursive);
        self.slots.insert(key, slot);
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
