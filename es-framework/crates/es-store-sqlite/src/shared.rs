//! The state that the writer shares with readers and callers.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{damage_record::DamageRecord, index::PostingIndex, recent::RecentEvents};
use es_store::catalogue::EventTypeCatalogue;

/// The state that the writer shares with readers and callers.
#[derive(Debug)]
pub(super) struct SharedState {
    pub(super) file: PathBuf,
    pub(super) log: RwLock<IndexedLog>,
    /// Changes seldom and is read for long, so readers clone the `Arc`.
    pub(super) catalogue: RwLock<Arc<EventTypeCatalogue>>,
    /// The reason why the last write failed, until a write succeeds.
    pub(super) last_write_failure: Mutex<Option<String>>,
    /// True from the request of an operator until the index is built again.
    pub(super) is_rebuild_requested: AtomicBool,
    pub(super) damage: Mutex<DamageRecord>,
    /// The fault that a test injects before the writer's next task.
    #[cfg(test)]
    pub(super) injected_fault: Mutex<Option<InjectedFault>>,
}

/// A fault that a test injects into the writer.
#[cfg(test)]
#[derive(Debug)]
pub(super) enum InjectedFault {
    /// The disk is full after this many pages.
    LimitPages(u32),
    /// The writer has a bug.
    Panic,
}

/// The index of all durable events, and the newest of these events.
#[derive(Debug, Default)]
pub(super) struct IndexedLog {
    pub(super) index: PostingIndex,
    pub(super) recent: RecentEvents,
}

impl SharedState {
    /// No change of the state can fail halfway, so a poisoned lock still guards a consistent state.
    pub(super) fn log(&self) -> RwLockReadGuard<'_, IndexedLog> {
        self.log.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn modify_log<T>(&self, change: impl FnOnce(&mut IndexedLog) -> T) -> T {
        change(&mut self.log.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the event types and schemas that are registered now.
    pub(super) fn catalogue(&self) -> Arc<EventTypeCatalogue> {
        let catalogue = self.catalogue.read();
        Arc::clone(&catalogue.unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn modify_catalogue<T>(
        &self,
        change: impl FnOnce(&mut EventTypeCatalogue) -> T,
    ) -> T {
        let catalogue = self.catalogue.write();
        change(Arc::make_mut(
            &mut catalogue.unwrap_or_else(PoisonError::into_inner),
        ))
    }

    /// Sets the reason why the last write failed. Returns true if it differs from the one before.
    pub(super) fn set_last_write_failure(&self, failure: Option<String>) -> bool {
        let last = self.last_write_failure.lock();
        let mut last = last.unwrap_or_else(PoisonError::into_inner);
        let has_changed = *last != failure;
        *last = failure;
        has_changed
    }

    pub(super) fn set_rebuild_requested(&self, is_requested: bool) {
        self.is_rebuild_requested
            .store(is_requested, Ordering::Release);
    }

    pub(super) fn is_rebuild_requested(&self) -> bool {
        self.is_rebuild_requested.load(Ordering::Acquire)
    }

    /// No change of the record can fail halfway.
    pub(super) fn with_damage<T>(&self, act: impl FnOnce(&mut DamageRecord) -> T) -> T {
        act(&mut self.damage.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(test)]
    pub(super) fn inject(&self, fault: InjectedFault) {
        *self
            .injected_fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    #[cfg(test)]
    pub(super) fn take_fault(&self) -> Option<InjectedFault> {
        let fault = self.injected_fault.lock();
        fault.unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn has_failed(&self) -> bool {
        let failure = self.last_write_failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
