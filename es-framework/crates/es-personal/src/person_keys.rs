//! The keys of persons, cached within bounds, and wrapped by a master key if there is one.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use moka::sync::Cache;
use uuid::Uuid;

use crate::{
    cipher::{KEY_LENGTH, PersonKey, random_bytes},
    key_store::{KeyStore, KeyStoreError, StoredKey},
    master_keys::MasterKeys,
    sealed_event::SealError,
};

/// The most keys in memory, some 100 bytes each.
const MAX_CACHED: u64 = 100_000;

/// An instance that misses an erasure of another one stops using the key after this time.
const CACHE_TIME: Duration = Duration::from_secs(60);

/// The id under which the key store has the key that belongs to no person. Nobody can register or erase it as a person.
pub(crate) const SHARED_KEY: Uuid = Uuid::from_u128(0x6573_6b65_7973_8def_8000_7368_6172_6564);

/// The state of a person. `None` stands for an erased one.
type CachedKey = Option<Arc<PersonKey>>;

/// The keys of persons.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonKeys {
    store: Arc<dyn KeyStore>,
    master: Option<Arc<MasterKeys>>,
    cache: Cache<Uuid, CachedKey>,
    /// The number of erasures. A key that was loaded before an erasure is not cached after it.
    erasures: Arc<Mutex<u64>>,
}

impl PersonKeys {
    /// Takes the keys from this store.
    #[must_use]
    pub fn new(store: Arc<dyn KeyStore>) -> Self {
        let cache = Cache::builder().max_capacity(MAX_CACHED);
        let cache = cache.time_to_live(CACHE_TIME).build();
        let erasures = Arc::default();
        Self {
            store,
            master: None,
            cache,
            erasures,
        }
    }

    /// Wraps the keys in the store by a master key, also those that are there.
    pub async fn with_master_keys(self, master: MasterKeys) -> Result<Self, KeyStoreError> {
        let master = Arc::new(master);
        let wrap = Arc::clone(&master);
        let rewrite = move |person: Uuid, key: &[u8]| wrap.rewrap(person, key);
        let count = self.store.rewrite_keys(Box::new(rewrite)).await?;
        if count > 0 {
            tracing::info!(
                count,
                "keys of persons are wrapped by the current master key"
            );
        }
        Ok(Self {
            master: Some(master),
            ..self
        })
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn KeyStore> {
        &self.store
    }

    /// Returns the key of a person, who gets one if need be.
    pub(crate) async fn find_or_create(&self, person: Uuid) -> Result<Arc<PersonKey>, SealError> {
        if person == SHARED_KEY {
            return Err(SealError::Erased(person));
        }
        let known = match self.cache.get(&person) {
            Some(known) => known,
            None => {
                let erasures = *self.lock_erasures();
                let stored = self.store.find_or_insert(person, self.new_key(person)?);
                self.remember(person, stored.await?, erasures)?
            }
        };
        known.ok_or(SealError::Erased(person))
    }

    /// Returns a random key, in the form in which it is stored.
    fn new_key(&self, person: Uuid) -> Result<Vec<u8>, SealError> {
        let key = random_bytes::<KEY_LENGTH>()?;
        Ok(match &self.master {
            Some(master) => master.wrap(person, &key)?,
            None => key.to_vec(),
        })
    }

    /// Returns the bytes of the key that belongs to no person. `create` makes it if the store has none.
    pub(crate) async fn shared_key(&self, create: bool) -> Result<Option<Vec<u8>>, SealError> {
        let stored = if create {
            let key = self.new_key(SHARED_KEY)?;
            Some(self.store.find_or_insert(SHARED_KEY, key).await?)
        } else {
            self.store.find(vec![SHARED_KEY]).await?.remove(&SHARED_KEY)
        };
        match stored {
            Some(StoredKey::Key(bytes)) => {
                let key = MasterKeys::unwrap_key(self.master.as_deref(), SHARED_KEY, &bytes)?;
                Ok(Some(key))
            }
            Some(StoredKey::Erased) | None => Ok(None),
        }
    }

    /// Returns the keys of these persons. A person whom the store does not know is missing.
    pub(crate) async fn find(
        &self,
        persons: impl IntoIterator<Item = Uuid>,
    ) -> Result<HashMap<Uuid, CachedKey>, SealError> {
        let mut found = HashMap::new();
        let mut missing = HashSet::new();
        for person in persons {
            if let Entry::Vacant(entry) = found.entry(person) {
                match self.cache.get(&person) {
                    Some(known) => {
                        entry.insert(known);
                    }
                    None => {
                        missing.insert(person);
                    }
                }
            }
        }
        if !missing.is_empty() {
            let erasures = *self.lock_erasures();
            for (person, stored) in self.store.find(missing.into_iter().collect()).await? {
                found.insert(person, self.remember(person, stored, erasures)?);
            }
        }
        Ok(found)
    }

    fn lock_erasures(&self) -> MutexGuard<'_, u64> {
        let erasures = self.erasures.lock();
        erasures.unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(
        &self,
        person: Uuid,
        stored: StoredKey,
        erasures: u64,
    ) -> Result<CachedKey, SealError> {
        let key = match stored {
            StoredKey::Key(bytes) => {
                let key = MasterKeys::unwrap_key(self.master.as_deref(), person, &bytes)?;
                Some(Arc::new(PersonKey::from_bytes(&key)?))
            }
            StoredKey::Erased => None,
        };
        let current = self.lock_erasures();
        if *current == erasures {
            self.cache.insert(person, key.clone());
        }
        drop(current);
        Ok(key)
    }

    /// Destroys the key of a person in the store and in memory.
    pub(crate) async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let erased = self.store.erase(person).await;
        if erased.is_ok() {
            self.forget(person);
        } else {
            // The key may be destroyed or not, so the store is asked again.
            let mut erasures = self.lock_erasures();
            *erasures = erasures.wrapping_add(1);
            self.cache.invalidate(&person);
        }
        erased
    }

    /// Stops using the key of a person whom another instance has erased.
    pub(crate) fn forget(&self, person: Uuid) {
        let mut erasures = self.lock_erasures();
        *erasures = erasures.wrapping_add(1);
        self.cache.insert(person, None);
    }
}
