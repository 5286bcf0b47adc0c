//! The key store of a run. It is durable, and the instances share it over the network.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use es_personal::{KeyRewrite, KeyStore, KeyStoreError, StoredKey};
use uuid::Uuid;

use super::{
    defect::Defect,
    environment::{SimulationEnvironment, lock},
};

/// A person in the key store.
#[derive(Debug, Default)]
struct SimulatedPerson {
    /// The bytes on the disk. They are missing once they are destroyed.
    key: Option<Vec<u8>>,
    is_erased: bool,
    is_finished: bool,
}

/// The keys of all persons.
#[derive(Debug)]
pub(super) struct SimulatedKeyStore {
    environment: Arc<SimulationEnvironment>,
    persons: Mutex<BTreeMap<Uuid, SimulatedPerson>>,
}

impl SimulatedPerson {
    fn stored_key(&self) -> StoredKey {
        let key = self.key.clone().filter(|_| !self.is_erased);
        key.map_or(StoredKey::Erased, StoredKey::Key)
    }
}

impl SimulatedKeyStore {
    pub(super) fn new(environment: Arc<SimulationEnvironment>) -> Self {
        Self {
            environment,
            persons: Mutex::default(),
        }
    }

    /// Returns a key store with the keys that are left on the disk.
    pub(super) fn copy_disk(&self) -> Self {
        let persons = lock(&self.persons);
        let persons = persons.iter().map(|(id, person)| {
            let copied = SimulatedPerson {
                key: person.key.clone(),
                is_erased: person.key.is_none(),
                is_finished: true,
            };
            (*id, copied)
        });
        Self {
            environment: Arc::clone(&self.environment),
            persons: Mutex::new(persons.collect()),
        }
    }

    /// Returns the persons whose erasure has begun.
    pub(super) fn erased_persons(&self) -> BTreeSet<Uuid> {
        let persons = lock(&self.persons);
        let erased = persons.iter().filter(|(_, person)| person.is_erased);
        erased.map(|(id, _)| *id).collect()
    }

    /// Returns the persons whose erasure has begun and is not finished.
    pub(super) fn open_erasures(&self) -> Vec<Uuid> {
        let persons = lock(&self.persons);
        let open = persons
            .iter()
            .filter(|(_, person)| person.is_erased && !person.is_finished);
        open.map(|(id, _)| *id).collect()
    }

    async fn send_request(&self) -> Result<(), KeyStoreError> {
        self.environment.simulate_network_delay().await;
        self.fail_randomly(self.environment.faults().failed_read)
    }

    /// The request is carried out when its answer is lost.
    async fn send_answer(&self) -> Result<(), KeyStoreError> {
        self.environment.simulate_network_delay().await;
        self.fail_randomly(self.environment.faults().lost_answer)
    }

    fn fail_randomly(&self, per_mille: u64) -> Result<(), KeyStoreError> {
        if self.environment.random_bool(per_mille) {
            return Err(KeyStoreError("the connection broke".to_owned()));
        }
        Ok(())
    }
}

#[async_trait]
impl KeyStore for SimulatedKeyStore {
    fn identity(&self) -> Uuid {
        Uuid::nil()
    }

    async fn find(&self, persons: Vec<Uuid>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError> {
        self.send_request().await?;
        let found = {
            let known = lock(&self.persons);
            let found = persons
                .into_iter()
                .filter_map(|id| Some((id, known.get(&id)?.stored_key())));
            found.collect()
        };
        self.send_answer().await?;
        Ok(found)
    }

    async fn find_or_insert(&self, person: Uuid, key: Vec<u8>) -> Result<StoredKey, KeyStoreError> {
        self.send_request().await?;
        let stored = {
            let mut known = lock(&self.persons);
            let new = || SimulatedPerson {
                key: Some(key),
                ..SimulatedPerson::default()
            };
            known.entry(person).or_insert_with(new).stored_key()
        };
        self.send_answer().await?;
        Ok(stored)
    }

    async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError> {
        self.send_request().await?;
        {
            let mut persons = lock(&self.persons);
            let person = persons.entry(person).or_default();
            person.is_erased = true;
            if self.environment.defect != Some(Defect::KeepErasedKeys) {
                person.key = None;
            }
        }
        self.environment
            .record_trace("keys", format_args!("destroys the key of {person}"));
        self.send_answer().await
    }

    async fn finish_erasure(&self, person: Uuid) -> Result<(), KeyStoreError> {
        self.send_request().await?;
        lock(&self.persons).entry(person).or_default().is_finished = true;
        self.environment
            .record_trace("keys", format_args!("record the end of {person}"));
        self.send_answer().await
    }

    async fn unfinished_erasures(&self) -> Result<Vec<Uuid>, KeyStoreError> {
        self.send_request().await?;
        Ok(self.open_erasures())
    }

    async fn check(&self) -> Result<(), KeyStoreError> {
        self.send_request().await
    }

    async fn has_longer_key(&self, _: usize) -> Result<bool, KeyStoreError> {
        Ok(false)
    }

    async fn rewrite_keys(&self, _: KeyRewrite) -> Result<usize, KeyStoreError> {
        Ok(0)
    }
}
