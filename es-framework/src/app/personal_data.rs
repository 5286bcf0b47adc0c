//! Personal data in an application: its keys, and all that holds plain values.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use es_personal::{
    ErasureTarget, KeyStore, KeyStoreError, MasterKeys, OtherKeyStore, PersonKeys, PersonalData,
    PersonalEvents, PersonalStore, SqliteKeyStore, find_link,
};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use crate::{
    Error, Result,
    command::CommandResources,
    config::{KeyStoreUrl, Settings},
    event::EventDescriptor,
    operator::{OperatorClient, OperatorCommand, OperatorError},
    projection::{Database, Processor, ReadModels},
    store::{EventStore, StoreError},
    subscribe::ProgressRegistry,
};

/// The time in which an erasure waits for the rebuild of a read model.
const REBUILD_WAIT: Duration = Duration::from_secs(8);
const POLL: Duration = Duration::from_millis(20);

/// The time in which a running event store tells its key store.
const LINK_WAIT: Duration = Duration::from_secs(2);

/// The time after which erasures are followed again when the event store or the key store fails.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Opens the keys, if events hold personal data or ever did.
pub(super) async fn open_personal_store(
    events: &[EventDescriptor],
    settings: &Settings,
    store: Arc<dyn EventStore>,
) -> Result<Option<PersonalStore>> {
    let failed = |error| Error::because("the keys of persons cannot be opened", error);
    let failed_read = |error| Error::because("the events cannot be read", error);
    let events = PersonalEvents::select(events);
    let linked = match timeout(LINK_WAIT, find_link(&*store)).await {
        Ok(Err(error @ StoreError::Corrupt { .. })) => return Err(failed_read(error)),
        Ok(Ok(linked)) => linked,
        // The application starts without its event store. Reads then name a key that is missing.
        Ok(Err(_)) | Err(_) => None,
    };
    if events.is_empty() && linked.is_none() {
        return Ok(None);
    }
    let keys = open_key_store(&settings.key_store_url_or_default())
        .await
        .map_err(failed)?;
    if let Some(expected) = linked.filter(|linked| *linked != keys.identity()) {
        let found = keys.identity();
        return Err(Error::because(
            "the keys of persons cannot be opened",
            OtherKeyStore { expected, found },
        ));
    }
    let keys = PersonKeys::new(keys);
    let keys = match &settings.key_store_master_key_file {
        Some(file) => {
            let master = MasterKeys::load(file).map_err(failed)?;
            keys.with_master_keys(master).await.map_err(failed)?
        }
        None => keys,
    };
    Ok(Some(PersonalStore::new(store, events, keys)))
}

async fn open_key_store(url: &KeyStoreUrl) -> Result<Arc<dyn KeyStore>, KeyStoreError> {
    match url {
        KeyStoreUrl::File(file) => Ok(Arc::new(SqliteKeyStore::open(file)?)),
        #[cfg(feature = "postgres")]
        KeyStoreUrl::Postgres(url) => Ok(Arc::new(es_personal::PostgresKeyStore::open(url).await?)),
        #[cfg(not(feature = "postgres"))]
        KeyStoreUrl::Postgres(_) => Err(KeyStoreError(
            "KEY_STORE_URL names PostgreSQL, which needs the feature `postgres` of es-framework"
                .to_owned(),
        )),
    }
}

/// Returns the parts of an application that hold plain values.
pub(super) fn erasure_targets(
    store: &PersonalStore,
    command_resources: &CommandResources,
    models: &ReadModels,
    processor: &Processor,
    database: &Database,
) -> Vec<Arc<dyn ErasureTarget>> {
    let mut targets: Vec<Arc<dyn ErasureTarget>> =
        vec![Arc::new(States(command_resources.clone()))];
    for table in models.iter() {
        let mut events = table.model.events.iter();
        if events.any(|event_type| store.may_hold_personal_data(event_type)) {
            targets.push(Arc::new(ReadModelRows {
                name: table.model.name,
                operator: processor.operator_client(),
                progress: processor.progress(),
                database: database.clone(),
            }));
        }
    }
    targets
}

/// The cached states and the snapshots.
#[derive(Debug)]
struct States(CommandResources);

#[async_trait]
impl ErasureTarget for States {
    fn name(&self) -> String {
        "states and snapshots".to_owned()
    }

    async fn forget(&self, _: Uuid) -> Result<bool, String> {
        self.0.forget_states().await.map(|()| true)
    }
}

/// The rows of a read model, which are built again from the events.
#[derive(Debug)]
struct ReadModelRows {
    name: &'static str,
    operator: OperatorClient,
    progress: ProgressRegistry,
    database: Database,
}

#[async_trait]
impl ErasureTarget for ReadModelRows {
    fn name(&self) -> String {
        format!("read model {}", self.name)
    }

    async fn forget(&self, _: Uuid) -> Result<bool, String> {
        let begin = Instant::now();
        let Some(progress) = self.progress.find_progress(self.name) else {
            return Ok(true);
        };
        let swaps = progress.swaps();
        while let Err(error) = self.rebuild().await {
            match error {
                // The instance that keeps the read models reads the announcement and rebuilds them.
                OperatorError::StandsBy => return Ok(false),
                OperatorError::Rebuilding(..) if begin.elapsed() < REBUILD_WAIT => {}
                OperatorError::Failed(..) | OperatorError::Busy(_)
                    if begin.elapsed() < REBUILD_WAIT => {}
                error => return Err(format!("{error}: repeat the erasure")),
            }
            tokio::time::sleep(POLL).await;
        }
        // Rows that were not complete are built in place, and the others in a shadow table.
        let is_in_place = !progress.has_caught_up();
        while progress.swaps() == swaps && !(is_in_place && progress.has_caught_up()) {
            if begin.elapsed() >= REBUILD_WAIT {
                return Err("it is still being rebuilt: repeat the erasure later".to_owned());
            }
            tokio::time::sleep(POLL).await;
        }
        let scrubbed = self.database.scrub().await;
        scrubbed.map(|()| true).map_err(|error| error.to_string())
    }
}

impl ReadModelRows {
    async fn rebuild(&self) -> Result<(), OperatorError> {
        let rebuilt = self
            .operator
            .send_selection(self.name, OperatorCommand::Rebuild, None);
        rebuilt.await.map(drop)
    }
}

/// Completes and follows erasures for as long as the application runs.
pub(super) async fn follow_erasures(data: PersonalData) {
    loop {
        if let Err(error) = data.follow().await {
            tracing::warn!(%error, "erasures of personal data cannot be followed yet");
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

#[cfg(test)]
mod tests;
