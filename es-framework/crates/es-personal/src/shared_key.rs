//! The key that all instances of an application share, in the key store, and named by the schema of the events that need it.

use std::sync::Arc;

use es_event::EventType;
use es_store::{StoreCatalog, StoreError};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::{
    key_link::{KeyLink, LinkedSchema},
    person_keys::PersonKeys,
};

/// The key of the application that belongs to no person. It is made when it is first needed.
#[doc(hidden)]
#[derive(Debug)]
pub struct SharedKey {
    link: KeyLink,
    keys: PersonKeys,
    /// Returns the name of a key, which does not reveal the key.
    name: fn(&[u8]) -> Uuid,
    bytes: OnceCell<Vec<u8>>,
}

impl SharedKey {
    /// Takes the key from a key store, for events of a type whose schema names the key in this member of the payload.
    #[must_use]
    pub fn new(
        catalog: Arc<dyn StoreCatalog>,
        keys: PersonKeys,
        (event_type, member): (EventType, &'static str),
        name: fn(&[u8]) -> Uuid,
    ) -> Self {
        Self {
            link: KeyLink::new(catalog, LinkedSchema { event_type, member }),
            keys,
            name,
            bytes: OnceCell::new(),
        }
    }

    /// Checks that the key store has the key, if events were written with it.
    ///
    /// # Errors
    /// The key store has lost the key, or has another one.
    pub async fn check(&self) -> Result<(), StoreError> {
        let key = self.keys.shared_key(false).await.map_err(failed)?;
        let found = key.map_or(Uuid::nil(), |key| (self.name)(&key));
        self.link.check(found).await
    }

    /// Returns the bytes of the key.
    ///
    /// # Errors
    /// A store does not answer, or the events were written with another key.
    pub async fn bytes(&self) -> Result<&[u8], StoreError> {
        let bytes = self.bytes.get_or_try_init(|| self.load());
        bytes.await.map(Vec::as_slice)
    }

    async fn load(&self) -> Result<Vec<u8>, StoreError> {
        // A lost key is not replaced by a new one.
        self.check().await?;
        let stored = self.keys.shared_key(true).await.map_err(failed)?;
        let key = stored.ok_or_else(|| failed("the shared key is erased"))?;
        self.link.ensure((self.name)(&key)).await?;
        Ok(key)
    }
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::KeyStore(error.to_string())
}

#[cfg(test)]
mod tests {
    use es_store::memory::MemoryStore;

    use super::*;
    use crate::SqlKeyStore;

    async fn open(file: &std::path::Path) -> PersonKeys {
        let url = es_sql::DatabaseUrl::File(file.to_owned());
        PersonKeys::new(Arc::new(SqlKeyStore::open(&url).await.unwrap()))
    }

    async fn shared_key(store: &Arc<dyn StoreCatalog>, file: &std::path::Path) -> SharedKey {
        let keys = open(file).await;
        let place = (EventType::declared("com.example.ClaimedEvent"), "keyId");
        let name = |key: &[u8]| Uuid::from_slice(&key[..16]).unwrap();
        SharedKey::new(Arc::clone(store), keys, place, name)
    }

    #[tokio::test]
    async fn all_instances_have_one_key_and_a_lost_one_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["keys", "other"].map(|name| folder.path().join(name));
        let store: Arc<dyn StoreCatalog> = Arc::new(MemoryStore::new());
        let key = shared_key(&store, &file).await;
        key.check().await.unwrap();
        let bytes = key.bytes().await.unwrap();
        let again = shared_key(&store, &file).await;
        again.check().await.unwrap();
        assert_eq!(again.bytes().await.unwrap(), bytes);
        let lost = shared_key(&store, &other).await;
        for error in [lost.check().await, lost.bytes().await.map(|_| ())] {
            assert!(error.unwrap_err().to_string().contains("KEY_STORE_URL"));
        }
    }

    #[tokio::test]
    async fn nobody_gets_the_shared_key_as_a_person() {
        let folder = tempfile::tempdir().unwrap();
        let keys = open(&folder.path().join("keys")).await;
        keys.shared_key(true).await.unwrap();
        let subject = format!("/readers/{}", crate::person_keys::SHARED_KEY);
        assert!(
            keys.find_or_create(crate::person_keys::SHARED_KEY)
                .await
                .is_err()
        );
        assert!(crate::person_of(&subject.parse().unwrap()).is_err());
    }
}
