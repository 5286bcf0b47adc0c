//! StateLoader of subjects that were asked for lately, so that only newer events are read.

use std::{
    any::{Any, TypeId},
    sync::{Arc, Mutex, PoisonError},
};

use moka::sync::Cache;

use super::{Evolve, RebuiltState};
use crate::event::Subject;

/// How many states are kept at the most.
const CAPACITY: u64 = 10_000;

/// A state as it is kept: taken out while a command is decided on it, so that it need not be
/// copied.
type Slot = Arc<Mutex<Option<Box<dyn Any + Send>>>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    state: TypeId,
    subject: Subject,
    recursive: bool,
}

/// The states of many subjects. A state that another command has taken is not there.
#[derive(Debug, Clone)]
pub(super) struct StateCache {
    slots: Cache<Key, Slot>,
}

impl Default for StateCache {
    fn default() -> Self {
        let slots = Cache::new(CAPACITY);
        Self { slots }
    }
}

impl StateCache {
    pub(super) fn take<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
    ) -> Option<RebuiltState<S>> {
        let slot = self.slots.get(&Key::of::<S>(subject, recursive))?;
        let taken = slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        taken.downcast().ok().map(|rebuilt| *rebuilt)
    }

    pub(super) fn put<S: Evolve>(
        &self,
        subject: &Subject,
        recursive: bool,
        rebuilt: RebuiltState<S>,
    ) {
        let slot: Slot = Arc::new(Mutex::new(Some(Box::new(rebuilt))));
        self.slots.insert(Key::of::<S>(subject, recursive), slot);
    }
}

impl Key {
    fn of<S: Evolve>(subject: &Subject, recursive: bool) -> Self {
        Self {
            state: TypeId::of::<S>(),
            subject: subject.clone(),
            recursive,
        }
    }
}
