//! The parts of an application that hold plain values, and drop them after an erasure.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use es_event::Hash;

/// Something that holds plain values of persons, such as a cache or a table.
#[doc(hidden)]
#[async_trait]
pub trait ErasureTarget: fmt::Debug + Send + Sync + 'static {
    /// Returns its name, as operators know it.
    fn name(&self) -> String;

    /// Drops the plain values of the persons who were erased up to an announcement, or waits until they are dropped. Costs little
    /// if that was done. Fails if it takes too long; the next call goes on.
    ///
    /// An announcement is known by its hash, because another event of a restored event store can have the id.
    async fn forget(&self, erasure: Hash) -> Result<(), String>;
}

/// A part of an application, and the last announcement after which it dropped plain values in this process.
#[derive(Debug)]
pub(crate) struct FollowedTarget {
    target: Box<dyn ErasureTarget>,
    dropped: Mutex<Option<Hash>>,
}

impl FollowedTarget {
    pub(crate) fn new(target: Box<dyn ErasureTarget>) -> Self {
        Self {
            target,
            dropped: Mutex::default(),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.target.name()
    }

    pub(crate) fn has_dropped(&self, erasure: Hash) -> bool {
        *self.lock_dropped() == Some(erasure)
    }

    /// Drops the plain values, unless that was done.
    pub(crate) async fn drop_values(&self, erasure: Hash) -> Result<(), String> {
        if !self.has_dropped(erasure) {
            self.target.forget(erasure).await?;
            *self.lock_dropped() = Some(erasure);
        }
        Ok(())
    }

    fn lock_dropped(&self) -> MutexGuard<'_, Option<Hash>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
