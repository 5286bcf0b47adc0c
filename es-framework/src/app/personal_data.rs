//! Personal data in an application: its keys, and all that holds plain values.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use es_personal::{
    ErasureTarget, MasterKeys, PersonKeys, PersonalData, PersonalEvents, PersonalStore,
    SqlKeyStore, find_key_store,
};
use tokio::time::timeout;

use self::read_model_tables::ReadModelTables;
use super::unique_claims::UniqueClaims;
use crate::{
    Error, Result,
    command::CommandResources,
    config::Settings,
    event::{EventDescriptor, Hash, UniqueRules},
    projection::{Database, DatabaseUrl, Processor, ReadModels},
    state::StateLoader,
    store::{EventStore, StoreError},
    subscribe::SubscriberProgress,
};

/// The time in which an erasure waits for the rebuild of a read model.
const REBUILD_WAIT: Duration = Duration::from_secs(8);

/// The error of a start without keys.
const UNOPENED: &str = "the keys of persons cannot be opened";

/// The time in which a running event store tells its key store.
pub(super) const LINK_WAIT: Duration = Duration::from_secs(2);

/// The time after which erasures are followed again when the event store or the key store fails.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Opens the keys, if events hold personal data or ever did, or have unique values.
pub(super) async fn open_personal_store(
    events: &[EventDescriptor],
    settings: &Settings,
    store: Arc<dyn EventStore>,
) -> Result<Option<PersonalStore>> {
    let failed = |error| Error::because(UNOPENED, error);
    let failed_read = |error| Error::because("the events cannot be read", error);
    let has_unique_values = has_unique_values(events);
    let events = PersonalEvents::select(events);
    let linked = match timeout(LINK_WAIT, find_key_store(&*store)).await {
        Ok(Err(error @ StoreError::Corrupt { .. })) => return Err(failed_read(error)),
        Ok(Ok(linked)) => linked,
        // The application starts without its event store. Reads then name a key that is missing.
        Ok(Err(_)) | Err(_) => None,
    };
    if events.is_empty() && linked.is_none() && !has_unique_values {
        return Ok(None);
    }
    if !store.is_volatile() {
        settings.check_key_store_file()?;
    }
    let url = if store.is_volatile() && settings.key_store_url.is_none() {
        DatabaseUrl::Memory
    } else {
        settings.key_store_url_or_default().into()
    };
    let key_store = SqlKeyStore::open(&url).await.map_err(failed)?;
    let checked = PersonKeys::new(Arc::new(key_store)).for_events_of(linked);
    let stored = checked.map_err(|error| Error::because(UNOPENED, error))?;
    let keys = match &settings.key_store_master_key_file {
        Some(file) => {
            let master = MasterKeys::load(file).map_err(failed)?;
            stored.with_master_keys(master).await
        }
        None => stored.without_master_keys().await,
    };
    let keys = keys.map_err(failed)?;
    Ok(Some(PersonalStore::new(store, events, keys)))
}

/// Returns whether an event has a rule about unique values.
pub(super) fn has_unique_values(events: &[EventDescriptor]) -> bool {
    events.iter().any(|event| event.unique != UniqueRules::NONE)
}

/// Returns what finds, erases and verifies personal data in this application, if it has any. Called before anything is
/// read from the event store.
pub(super) async fn personal_data(
    store: Option<PersonalStore>,
    source: &str,
    command_resources: &CommandResources,
    models: &ReadModels,
    processor: &Processor,
    database: &Database,
) -> Option<PersonalData> {
    let store = store?;
    let source: Arc<str> = source.into();
    let mut targets = erasure_targets(command_resources, processor, database).await;
    targets.push(Box::new(UniqueClaims::new(store.sealed().clone(), &source)));
    let tables = ReadModelTables {
        models: models.clone(),
        database: database.clone(),
        states: command_resources.states().clone(),
    };
    Some(PersonalData::new(store, source, targets).with_tables(Arc::new(tables)))
}

/// Returns the parts of an application that hold plain values.
pub(crate) async fn erasure_targets(
    command_resources: &CommandResources,
    processor: &Processor,
    database: &Database,
) -> Vec<Box<dyn ErasureTarget>> {
    let loader = command_resources.states();
    let states = States {
        // Nothing is cached yet.
        dropped: Mutex::new(loader.load_last_erasure().await),
        states: loader.clone(),
    };
    let rows = processor.personal_read_models().map(|progress| {
        Box::new(ReadModelRows {
            progress,
            database: database.clone(),
        }) as Box<dyn ErasureTarget>
    });
    rows.chain([Box::new(states) as _]).collect()
}

/// The cached states and the snapshots.
#[derive(Debug)]
struct States {
    states: StateLoader,
    /// The erasure after which the cached states were dropped. Another instance may have recorded another one in the file.
    dropped: Mutex<Option<Hash>>,
}

impl States {
    fn lock_dropped(&self) -> MutexGuard<'_, Option<Hash>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ErasureTarget for States {
    fn name(&self) -> String {
        "states and snapshots".to_owned()
    }

    async fn forget(&self, erasure: Hash) -> Result<(), String> {
        let is_dropped = *self.lock_dropped() == Some(erasure);
        if !is_dropped || self.states.load_last_erasure().await != Some(erasure) {
            self.states.forget_states().await?;
            self.states.record_erasure(erasure).await;
            *self.lock_dropped() = Some(erasure);
        }
        Ok(())
    }
}

/// The rows of a read model. The instance that keeps them reads the announcement as any event, and rebuilds them.
#[derive(Debug)]
struct ReadModelRows {
    progress: SubscriberProgress,
    database: Database,
}

#[async_trait]
impl ErasureTarget for ReadModelRows {
    fn name(&self) -> String {
        format!("read model {}", self.progress.name())
    }

    async fn forget(&self, erasure: Hash) -> Result<(), String> {
        let rebuilt = self.progress.wait_until_built_after(erasure);
        if timeout(REBUILD_WAIT, rebuilt).await.is_err() {
            return Err("the rows that replace it are not built yet".to_owned());
        }
        let scrubbed = self.database.scrub().await;
        scrubbed.map_err(|error| error.to_string())
    }
}

/// Completes and follows erasures for as long as the application runs.
pub(crate) async fn follow_erasures(data: PersonalData) {
    loop {
        if let Err(error) = data.follow().await {
            tracing::warn!(%error, "erasures of personal data cannot be followed yet");
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

mod read_model_tables;
#[cfg(test)]
mod tests;
