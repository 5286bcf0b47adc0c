//! The end of the claims of values that are personal data of erased persons.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use es_command::unique::release_claims_of_erased_persons;
use es_personal::ErasureTarget;

use crate::{event::Hash, store::EventLog};

/// The claims of values in the event store.
#[derive(Debug)]
pub(super) struct UniqueClaims {
    store: Arc<dyn EventLog>,
    source: Arc<str>,
    /// The last erasure after which claims ended. After a start, they are examined once more, which changes nothing.
    last_erasure: Mutex<Option<Hash>>,
}

impl UniqueClaims {
    pub(super) fn new(store: Arc<dyn EventLog>, source: &Arc<str>) -> Self {
        Self {
            store,
            source: Arc::clone(source),
            last_erasure: Mutex::default(),
        }
    }
}

#[async_trait]
impl ErasureTarget for UniqueClaims {
    fn name(&self) -> String {
        "unique values".to_owned()
    }

    async fn is_empty(&self) -> Result<bool, String> {
        Ok(false)
    }

    async fn last_erasure(&self) -> Result<Option<Hash>, String> {
        let last = self.last_erasure.lock();
        Ok(*last.unwrap_or_else(PoisonError::into_inner))
    }

    async fn record_erasure(&self, erasure: Hash) -> Result<(), String> {
        let last = self.last_erasure.lock();
        *last.unwrap_or_else(PoisonError::into_inner) = Some(erasure);
        Ok(())
    }

    async fn forget(&self, _: Hash) -> Result<(), String> {
        let released = release_claims_of_erased_persons(&*self.store, &self.source).await;
        released.map_err(|error| error.to_string())
    }
}
