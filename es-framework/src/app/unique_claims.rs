//! The end of the claims of values that are personal data of erased persons.

use std::sync::Arc;

use async_trait::async_trait;
use es_command::unique::release_claims_of_erased_persons;
use es_personal::ErasureTarget;

use crate::{event::Hash, store::EventLog};

/// The claims of values in the event store.
#[derive(Debug)]
pub(super) struct UniqueClaims {
    store: Arc<dyn EventLog>,
    source: Arc<str>,
}

impl UniqueClaims {
    pub(super) fn new(store: Arc<dyn EventLog>, source: &Arc<str>) -> Self {
        Self {
            store,
            source: Arc::clone(source),
        }
    }
}

#[async_trait]
impl ErasureTarget for UniqueClaims {
    fn name(&self) -> String {
        "unique values".to_owned()
    }

    async fn forget(&self, _: Hash) -> Result<(), String> {
        let released = release_claims_of_erased_persons(&*self.store, &self.source).await;
        released.map_err(|error| error.to_string())
    }
}
