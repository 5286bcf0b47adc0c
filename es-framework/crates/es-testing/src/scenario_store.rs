//! The event store of a scenario: in memory, with the personal values sealed as in production.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use uuid::Uuid;

use es_event::{Clock, EventDescriptor, Subject};
use es_personal::{
    KeyRewrite, KeyStore, KeyStoreError, PersonKeys, PersonalData, PersonalEvents, PersonalStore,
    RedactedStore, StoredKey, person_of,
};
use es_store::{EventLog, memory::MemoryStore};

/// The reason why a scenario cannot run.
pub(crate) type ScenarioError = Box<dyn std::error::Error + Send + Sync>;

/// The event store of a scenario.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioStore(PersonalStore);

impl ScenarioStore {
    /// Creates an empty store, which records events at the times of this clock.
    pub(crate) fn new(clock: Clock) -> Self {
        let events = PersonalEvents::select(inventory::iter::<EventDescriptor>);
        let keys = PersonKeys::new(Arc::new(KeysInMemory::default()));
        let store = MemoryStore::new().with_clock(clock);
        Self(PersonalStore::new(Arc::new(store), events, keys))
    }

    /// Returns the log, as the application sees it.
    pub(crate) fn log(&self) -> Arc<dyn EventLog> {
        Arc::new(self.0.clone())
    }

    /// Returns the log without personal values. Each one reads as its replacement.
    pub(crate) fn redacted_log(&self) -> Arc<dyn EventLog> {
        Arc::new(RedactedStore::new(self.0.sealed().clone()))
    }

    /// Erases the person whose id ends a subject.
    pub(crate) async fn erase(&self, subject: &Subject) -> Result<(), ScenarioError> {
        let person = person_of(subject)?;
        let data = PersonalData::new(self.0.clone(), "test".into(), Vec::new());
        if let Some(unknown) = data.find_unknown_person(subject, person).await? {
            return Err(format!("a past erasure is impossible: {unknown}").into());
        }
        data.erase(person).await?;
        Ok(())
    }
}

/// The keys of the persons of a scenario.
#[derive(Debug, Default)]
struct KeysInMemory(Mutex<HashMap<Uuid, StoredKey>>);

impl KeysInMemory {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, StoredKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl KeyStore for KeysInMemory {
    fn identity(&self) -> Uuid {
        Uuid::nil()
    }

    async fn find(&self, persons: Vec<Uuid>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
        let keys = self.lock();
        let found = persons
            .into_iter()
            .filter_map(|person| Some((person, keys.get(&person)?.clone())));
        Ok(found.collect())
    }

    async fn find_or_insert(&self, person: Uuid, key: Vec<u8>) -> Result<StoredKey, KeyStoreError> {
        let mut keys = self.lock();
        let stored = keys.entry(person).or_insert(StoredKey::Key(key));
        Ok(stored.clone())
    }

    async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        self.lock().insert(person, StoredKey::Erased);
        Ok(())
    }

    async fn finish_erasure(&self, _: Uuid) -> Result<(), KeyStoreError> {
        Ok(())
    }

    async fn unfinished_erasures(&self) -> Result<Vec<Uuid>, KeyStoreError> {
        Ok(Vec::new())
    }

    async fn check(&self) -> Result<(), KeyStoreError> {
        Ok(())
    }

    async fn has_longer_key(&self, _: usize) -> Result<bool, KeyStoreError> {
        Ok(false)
    }

    async fn rewrite_keys(&self, _: KeyRewrite) -> Result<usize, KeyStoreError> {
        Ok(0)
    }
}
