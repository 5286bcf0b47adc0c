//! The key of the digests of unique values. All instances of the application have it from their key store.

use std::sync::Arc;

use async_trait::async_trait;
use es_command::unique::{CLAIMED, CLAIMED_KEY_MEMBER, UniqueKey, UniqueKeySource};
use es_personal::{PersonalStore, SharedKey};
use tokio::time::timeout;

use super::personal_data::{LINK_WAIT, has_unique_values};
use crate::{Error, Result, event::EventDescriptor, store::StoreError};

/// The key in the key store.
#[derive(Debug)]
struct StoredUniqueKey(SharedKey);

#[async_trait]
impl UniqueKeySource for StoredUniqueKey {
    async fn unique_key(&self) -> Result<UniqueKey, StoreError> {
        Ok(UniqueKey::from_bytes(self.0.bytes().await?))
    }
}

/// Finds the key of the values that events claim. A start without the key of the recorded claims is refused, because
/// no claim would be found again.
pub(super) async fn open_unique_keys(
    events: &[EventDescriptor],
    personal: Option<&PersonalStore>,
) -> Result<Arc<dyn UniqueKeySource>> {
    let Some(personal) = personal.filter(|_| has_unique_values(events)) else {
        return Ok(Arc::new(UniqueKey::from_bytes(&[])));
    };
    let place = (CLAIMED, CLAIMED_KEY_MEMBER);
    let name = |bytes: &[u8]| UniqueKey::from_bytes(bytes).id();
    let (store, keys) = (Arc::clone(personal.sealed()), personal.keys().clone());
    let key = SharedKey::new(store, keys, place, name);
    let checked = timeout(LINK_WAIT, key.check()).await;
    match checked {
        Ok(Err(error @ (StoreError::Refused(_) | StoreError::Corrupt { .. }))) => Err(
            Error::because("the key of unique values cannot be used", error),
        ),
        // The application starts without its event store. The first claim checks the key again.
        Ok(Ok(()) | Err(_)) | Err(_) => Ok(Arc::new(StoredUniqueKey(key))),
    }
}
