//! The keys of persons, cached within bounds, and wrapped by a master key if there is one.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    cipher::{KEY_LENGTH, PersonKey, random_bytes},
    key_link::OtherKeyStore,
    key_store::{KeyStore, KeyStoreError, StoredKey},
    master_keys::MasterKeys,
    sealed_event::SealError,
};

/// The most keys in memory, some 600 bytes each.
const MAX_CACHED: usize = 100_000;

/// An instance that misses an erasure of another one stops using the key after this time.
const CACHE_TIME: Duration = Duration::from_secs(60);

/// The id under which the key store has the key that belongs to no person. Nobody can register or erase it as a person.
pub(crate) const SHARED_KEY: Uuid = Uuid::from_u128(0x6573_6b65_7973_8def_8000_7368_6172_6564);

/// The state of a person. `None` stands for an erased one.
pub(crate) type CachedKey = Option<Arc<PersonKey>>;

/// The keys of persons, read from a key store and remembered for a while.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonKeys {
    store: Arc<dyn KeyStore>,
    master: Option<Arc<MasterKeys>>,
    cache: Arc<Mutex<KeyCache>>,
}

/// The keys in memory. A batch of events locks them once.
#[derive(Debug)]
struct KeyCache {
    keys: HashMap<Uuid, CachedKey>,
    /// No key is older than this.
    begin: Instant,
    /// The number of erasures. A key that was loaded before an erasure is not cached after it.
    erasures: u64,
}

impl PersonKeys {
    /// Takes the keys from this store.
    #[must_use]
    pub fn new(store: Arc<dyn KeyStore>) -> Self {
        let cache = KeyCache {
            keys: HashMap::new(),
            begin: Instant::now(),
            erasures: 0,
        };
        Self {
            store,
            master: None,
            cache: Arc::new(Mutex::new(cache)),
        }
    }

    /// Checks that the events need no other key store, given the one that they name.
    pub fn for_events_of(self, expected: Option<Uuid>) -> Result<Self, OtherKeyStore> {
        let found = self.store.identity();
        match expected.filter(|expected| *expected != found) {
            Some(expected) => Err(OtherKeyStore { expected, found }),
            None => Ok(self),
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

    /// Leaves the keys as they are in the store, which must not have wrapped ones.
    pub async fn without_master_keys(self) -> Result<Self, KeyStoreError> {
        if self.store.has_longer_key(KEY_LENGTH).await? {
            return Err(MasterKeys::missing());
        }
        Ok(self)
    }

    /// Returns the store that has the keys.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn KeyStore> {
        &self.store
    }

    /// Returns the key of a person, who gets one if need be.
    pub(crate) async fn find_or_create(&self, person: Uuid) -> Result<Arc<PersonKey>, SealError> {
        if person == SHARED_KEY {
            return Err(SealError::Erased(person));
        }
        let (known, erasures) = {
            let cache = self.lock_cache();
            (cache.keys.get(&person).cloned(), cache.erasures)
        };
        let known = match known {
            Some(known) => known,
            None => {
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

    /// Returns the keys of these persons. A person whom the store does not know is missing, and a key that is damaged is an
    /// error of its person alone.
    pub(crate) async fn find(
        &self,
        persons: impl IntoIterator<Item = Uuid>,
    ) -> Result<HashMap<Uuid, Result<CachedKey, SealError>>, KeyStoreError> {
        let mut found = HashMap::new();
        let mut missing = HashSet::new();
        let erasures = {
            let cache = self.lock_cache();
            for person in persons {
                if let Entry::Vacant(entry) = found.entry(person) {
                    match cache.keys.get(&person) {
                        Some(known) => {
                            entry.insert(Ok(known.clone()));
                        }
                        None => {
                            missing.insert(person);
                        }
                    }
                }
            }
            cache.erasures
        };
        if !missing.is_empty() {
            for (person, stored) in self.store.find(missing.into_iter().collect()).await? {
                found.insert(person, self.remember(person, stored, erasures));
            }
        }
        Ok(found)
    }

    /// Locks the cache, and empties it if its keys are too many or too old.
    fn lock_cache(&self) -> MutexGuard<'_, KeyCache> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.keys.len() >= MAX_CACHED || cache.begin.elapsed() >= CACHE_TIME {
            cache.keys.clear();
            cache.begin = Instant::now();
        }
        cache
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
        let mut cache = self.lock_cache();
        if cache.erasures == erasures {
            cache.keys.insert(person, key.clone());
        }
        drop(cache);
        Ok(key)
    }

    /// Destroys the key of a person in the store and in memory.
    pub(crate) async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        let erased = self.store.erase(person).await;
        // If this fails, the key may be destroyed or not.
        self.clear_cache();
        erased
    }

    /// Asks the store for each key the next time, because somebody is erased.
    pub(crate) fn clear_cache(&self) {
        let mut cache = self.lock_cache();
        cache.erasures = cache.erasures.wrapping_add(1);
        cache.keys.clear();
    }
}
