//! Personal data in an application: its keys, and all that holds plain values.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use es_personal::{
    ErasureTarget, KeyStore as _, LinkedSchema, MasterKeys, OtherKeyStore, PersonKeys,
    PersonalData, PersonalEvents, PersonalStore, SqlKeyStore, find_link,
};
use tokio::time::{Instant, timeout};

use self::read_model_tables::ReadModelTables;
use super::unique_claims::UniqueClaims;
use crate::{
    Error, Result,
    command::CommandResources,
    config::Settings,
    event::{EventDescriptor, Hash, UniqueRules},
    operator::{OperatorClient, OperatorCommand, OperatorError},
    projection::{Database, DatabaseUrl, Processor, ReadModels, Table},
    store::{EventStore, StoreError},
    subscribe::{ProgressRegistry, SubscriberProgress},
};

/// The time in which an erasure waits for the rebuild of a read model.
const REBUILD_WAIT: Duration = Duration::from_secs(8);
const POLL: Duration = Duration::from_millis(20);

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
    let failed = |error| Error::because("the keys of persons cannot be opened", error);
    let failed_read = |error| Error::because("the events cannot be read", error);
    let has_unique_values = has_unique_values(events);
    let events = PersonalEvents::select(events);
    let place = LinkedSchema::PERSONS;
    let linked = match timeout(LINK_WAIT, find_link(&*store, &place)).await {
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
    let keys = SqlKeyStore::open(&url).await.map_err(failed)?;
    if let Some(expected) = linked.filter(|linked| *linked != keys.identity()) {
        let found = keys.identity();
        return Err(Error::because(
            "the keys of persons cannot be opened",
            OtherKeyStore { expected, found },
        ));
    }
    let opened = PersonKeys::new(Arc::new(keys));
    let keys = match &settings.key_store_master_key_file {
        Some(file) => {
            let master = MasterKeys::load(file).map_err(failed)?;
            opened.with_master_keys(master).await.map_err(failed)?
        }
        None => opened.without_master_keys().await.map_err(failed)?,
    };
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
    let mut targets = erasure_targets(&store, command_resources, models, processor, database);
    targets.push(Arc::new(UniqueClaims::new(store.sealed().clone(), &source)));
    let tables = ReadModelTables {
        models: models.clone(),
        database: database.clone(),
        states: command_resources.states().clone(),
    };
    let data = PersonalData::new(store, source, targets).with_tables(Arc::new(tables));
    // Otherwise rows that are empty now are rebuilt once, needlessly.
    if let Ok(Err(error)) = timeout(LINK_WAIT, data.prepare()).await {
        tracing::debug!(%error, "the erasures so far cannot be read yet");
    }
    Some(data)
}

/// Returns the parts of an application that hold plain values.
pub(crate) fn erasure_targets(
    store: &PersonalStore,
    command_resources: &CommandResources,
    models: &ReadModels,
    processor: &Processor,
    database: &Database,
) -> Vec<Arc<dyn ErasureTarget>> {
    let states = States {
        resources: command_resources.clone(),
        dropped: Mutex::default(),
    };
    let mut targets: Vec<Arc<dyn ErasureTarget>> = vec![Arc::new(states)];
    for table in models.iter() {
        let mut events = table.model.events.iter();
        if events.any(|event_type| store.may_hold_personal_data(event_type)) {
            targets.push(Arc::new(ReadModelRows {
                table: table.clone(),
                operator: processor.operator_client(),
                progress: processor.progress(),
                database: database.clone(),
                requested: Mutex::default(),
            }));
        }
    }
    targets
}

/// The cached states and the snapshots.
#[derive(Debug)]
struct States {
    resources: CommandResources,
    /// The erasure after which the cached states were dropped, once it is known. Another instance may have recorded
    /// another one in the file.
    dropped: Mutex<Option<Option<Hash>>>,
}

impl States {
    fn lock_dropped(&self) -> MutexGuard<'_, Option<Option<Hash>>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ErasureTarget for States {
    fn name(&self) -> String {
        "states and snapshots".to_owned()
    }

    async fn is_empty(&self) -> Result<bool, String> {
        Ok(self.resources.states().has_no_snapshots())
    }

    async fn last_erasure(&self) -> Result<Option<Hash>, String> {
        if self.resources.states().has_no_snapshots() {
            return Ok(self.lock_dropped().flatten());
        }
        let stored = self.resources.states().load_last_erasure().await;
        // Nothing is cached at the first call.
        let own = *self.lock_dropped().get_or_insert(stored);
        Ok(stored.filter(|stored| own == Some(*stored)))
    }

    async fn record_erasure(&self, erasure: Hash) -> Result<(), String> {
        *self.lock_dropped() = Some(Some(erasure));
        self.resources.states().record_erasure(erasure).await;
        Ok(())
    }

    async fn forget(&self, _: Hash) -> Result<(), String> {
        self.resources.states().forget_states().await
    }
}

/// The rows of a read model, which are built again from the events.
#[derive(Debug)]
struct ReadModelRows {
    table: Table,
    operator: OperatorClient,
    progress: ProgressRegistry,
    database: Database,
    /// A rebuild takes longer than an erasure waits, if there are many events.
    requested: Mutex<Option<RequestedRebuild>>,
}

/// A rebuild that was requested after an erasure was announced.
#[derive(Debug, Clone, Copy)]
struct RequestedRebuild {
    erasure: Hash,
    /// The number of rebuilds before it.
    swaps: u64,
    is_in_place: bool,
}

#[async_trait]
impl ErasureTarget for ReadModelRows {
    fn name(&self) -> String {
        format!("read model {}", self.table.model.name)
    }

    async fn is_empty(&self) -> Result<bool, String> {
        let is_new = self.database.is_table_new(&self.table).await;
        is_new.map_err(|error| error.to_string())
    }

    async fn last_erasure(&self) -> Result<Option<Hash>, String> {
        let last = self.database.load_last_erasure(&self.table).await;
        last.map_err(|error| error.to_string())
    }

    async fn record_erasure(&self, erasure: Hash) -> Result<(), String> {
        let recorded = self.database.record_erasure(&self.table, erasure).await;
        recorded.map_err(|error| error.to_string())
    }

    async fn forget(&self, erasure: Hash) -> Result<(), String> {
        let begin = Instant::now();
        let Some(progress) = self.progress.find_progress(self.table.model.name) else {
            return Ok(());
        };
        let known = *self.lock_requested();
        let requested = match known.filter(|known| known.erasure == erasure) {
            Some(known) => known,
            None => {
                let requested = self.request_rebuild(progress, erasure, begin).await?;
                let Some(requested) = requested else {
                    return self.wait_for_owner(erasure, begin).await;
                };
                *self.lock_requested() = Some(requested);
                requested
            }
        };
        while !requested.has_ended(progress) {
            if begin.elapsed() >= REBUILD_WAIT {
                return Err("it is still being rebuilt".to_owned());
            }
            tokio::time::sleep(POLL).await;
        }
        *self.lock_requested() = None;
        let scrubbed = self.database.scrub().await;
        scrubbed.map_err(|error| error.to_string())
    }
}

/// Waits until no rebuild runs. It sends no request, because each request interrupts the read models.
async fn wait_for_rebuild(progress: &SubscriberProgress, begin: Instant) {
    let is_built = || progress.shadow_progress().is_none() && progress.has_caught_up();
    while !is_built() && !progress.is_stopped() && begin.elapsed() < REBUILD_WAIT {
        tokio::time::sleep(POLL).await;
    }
}

impl RequestedRebuild {
    /// Rows that were not complete are built in place, and the others in a shadow table.
    fn has_ended(self, progress: &SubscriberProgress) -> bool {
        progress.swaps() != self.swaps || self.is_in_place && progress.has_caught_up()
    }
}

impl ReadModelRows {
    fn lock_requested(&self) -> MutexGuard<'_, Option<RequestedRebuild>> {
        self.requested
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the instance that keeps the read models has recorded the erasure in the database.
    async fn wait_for_owner(&self, erasure: Hash, begin: Instant) -> Result<(), String> {
        while self.last_erasure().await? != Some(erasure) {
            if begin.elapsed() >= REBUILD_WAIT {
                return Err("the instance that keeps it has not replaced its rows yet".to_owned());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Requests a rebuild, once an earlier one has ended. Returns `None` if another instance keeps the read models: it reads
    /// the announcement and rebuilds them.
    async fn request_rebuild(
        &self,
        progress: &SubscriberProgress,
        erasure: Hash,
        begin: Instant,
    ) -> Result<Option<RequestedRebuild>, String> {
        loop {
            // If the rows became complete before the request arrives, they would be built in a shadow table after all.
            if !progress.has_caught_up() && !progress.is_stopped() {
                wait_for_rebuild(progress, begin).await;
            }
            let requested = RequestedRebuild {
                erasure,
                swaps: progress.swaps(),
                is_in_place: !progress.has_caught_up(),
            };
            if requested.is_in_place && !progress.is_stopped() {
                return Err("it is still being built".to_owned());
            }
            match self.rebuild().await {
                // Otherwise an earlier rebuild may have ended just before.
                Ok(()) if progress.swaps() == requested.swaps => return Ok(Some(requested)),
                Ok(()) => {}
                Err(OperatorError::StandsBy) => return Ok(None),
                Err(OperatorError::Rebuilding(..)) if begin.elapsed() < REBUILD_WAIT => {
                    wait_for_rebuild(progress, begin).await;
                }
                Err(OperatorError::Failed(..) | OperatorError::Busy(_))
                    if begin.elapsed() < REBUILD_WAIT => {}
                Err(error) => return Err(error.to_string()),
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn rebuild(&self) -> Result<(), OperatorError> {
        let rebuilt =
            self.operator
                .send_selection(self.table.model.name, OperatorCommand::Rebuild, None);
        rebuilt.await.map(drop)
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
