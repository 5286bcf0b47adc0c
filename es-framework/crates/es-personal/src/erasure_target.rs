//! The parts of an application that hold plain values, and drop them after an erasure.

use std::fmt;

use async_trait::async_trait;
use es_event::Hash;

/// Something that holds plain values of persons, such as a cache or a table. It remembers the last erasure after which
/// it dropped them, so an instance that was down finds out what it has missed. An erasure is known by the hash of its
/// announcement, because another event of a restored event store can have the id.
#[doc(hidden)]
#[async_trait]
pub trait ErasureTarget: fmt::Debug + Send + Sync + 'static {
    /// Returns its name, as operators know it.
    fn name(&self) -> String;

    /// Returns true if it holds nothing yet.
    async fn is_empty(&self) -> Result<bool, String>;

    /// Returns the last erasure after which it dropped its plain values.
    async fn last_erasure(&self) -> Result<Option<Hash>, String>;

    /// Records that erasure.
    async fn record_erasure(&self, erasure: Hash) -> Result<(), String>;

    /// Drops the plain values of the persons who were erased up to an erasure, or waits for the instance that keeps them. Fails
    /// if it takes too long; the next call goes on.
    async fn forget(&self, erasure: Hash) -> Result<(), String>;
}

/// The parts of an application that dropped plain values, and those that did not.
#[derive(Debug, Default)]
pub(crate) struct DroppedValues {
    pub(crate) done: Vec<String>,
    pub(crate) unreached: Vec<String>,
}

impl DroppedValues {
    /// Records the result of [`drop_until`] under the name of the target.
    pub(crate) fn record(&mut self, target: String, result: Result<(), String>) {
        match result {
            Ok(()) => self.done.push(target),
            Err(reason) => self.unreached.push(format!("{target}: {reason}")),
        }
    }
}

/// Lets a target drop its plain values and records that, unless it was done.
pub(crate) async fn drop_until(target: &dyn ErasureTarget, erasure: Hash) -> Result<(), String> {
    if target.last_erasure().await? == Some(erasure) {
        return Ok(());
    }
    target.forget(erasure).await?;
    // The instance that keeps the rows has recorded it.
    if target.last_erasure().await? == Some(erasure) {
        return Ok(());
    }
    target.record_erasure(erasure).await
}
