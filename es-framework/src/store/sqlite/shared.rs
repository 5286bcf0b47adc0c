//! What the writer shares with those who read and ask.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard},
};

use super::tail::Tail;
use crate::store::catalogue::Catalogue;

/// What the writer shares with those who read and ask.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) file: PathBuf,
    pub(super) tail: RwLock<Tail>,
    /// Changed seldom and read for long, so readers take it with them.
    pub(super) catalogue: RwLock<Arc<Catalogue>>,
    /// Why the last write failed, until one succeeds.
    pub(super) failure: Mutex<Option<String>>,
}

impl Shared {
    /// The tail is only changed by steps that cannot fail half way.
    pub(super) fn tail(&self) -> RwLockReadGuard<'_, Tail> {
        self.tail.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change<T>(&self, step: impl FnOnce(&mut Tail) -> T) -> T {
        step(&mut self.tail.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The event types that were known a moment ago.
    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        let catalogue = self.catalogue.read();
        Arc::clone(&catalogue.unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn change_catalogue<T>(&self, step: impl FnOnce(&mut Catalogue) -> T) -> T {
        let catalogue = self.catalogue.write();
        step(Arc::make_mut(
            &mut catalogue.unwrap_or_else(PoisonError::into_inner),
        ))
    }

    pub(super) fn set_failure(&self, failure: Option<String>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    pub(super) fn has_failed(&self) -> bool {
        let failure = self.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
