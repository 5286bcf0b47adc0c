//! The erasure of a person: the key is destroyed, an event announces it, and all that holds plain values drops them.
//!
//! Each step can be repeated. The key store holds the intent from the transaction on that destroys the key, so an erasure that was
//! interrupted is completed by every instance that runs, by the next start, or by repeating it.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use es_store::{EventStore, ObserveOptions, StoreError};
use futures_util::{StreamExt as _, future, future::BoxFuture};
use serde::{Deserialize, Serialize};
use tokio::{sync::Mutex, time::MissedTickBehavior};
use uuid::Uuid;

use crate::{
    erasure_announcement::{
        all_subject, announce_erasure, find_announcement, latest_announcement,
        read_announced_persons,
    },
    erasure_target::{ErasureTarget, FollowedTarget},
    key_store::StoredKey,
    personal_store::PersonalStore,
    read_model_search::ReadModelSearch,
    redacted_store::RedactedStore,
};

/// The most persons of one look-up, and the most announcements that are followed at once.
const MAX_LOOKUP: usize = 1_000;

/// The time after which open erasures are completed, and plain values are dropped again where that failed.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The result of an erasure.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureReport {
    /// The id of the person.
    pub person: Uuid,
    /// The parts that dropped the plain values.
    pub done: Vec<String>,
    /// The parts that the erasure could not reach, each with the reason.
    pub unreached: Vec<String>,
}

/// Finds, erases and verifies the personal data of persons.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonalData {
    pub(crate) store: PersonalStore,
    source: Arc<str>,
    targets: Arc<[FollowedTarget]>,
    pub(crate) tables: Option<Arc<dyn ReadModelSearch>>,
    /// The most values and events of a report, if it is not the usual number.
    pub(crate) max_records: Option<usize>,
    /// Whoever holds it lets the targets drop plain values.
    dropping: Arc<Mutex<()>>,
    /// The persons whom this instance has announced, until the key store has recorded that.
    announced: Arc<Mutex<BTreeSet<Uuid>>>,
}

impl PersonalData {
    /// Erases from this store and these targets.
    #[must_use]
    pub fn new(
        store: PersonalStore,
        source: Arc<str>,
        targets: Vec<Box<dyn ErasureTarget>>,
    ) -> Self {
        let targets = targets.into_iter().map(FollowedTarget::new);
        Self {
            store,
            source,
            targets: targets.collect(),
            tables: None,
            max_records: None,
            dropping: Arc::default(),
            announced: Arc::default(),
        }
    }

    /// Looks for persons in the tables of the read models and in the snapshots as well.
    #[must_use]
    pub fn with_tables(self, tables: Arc<dyn ReadModelSearch>) -> Self {
        let tables = Some(tables);
        Self { tables, ..self }
    }

    /// Returns the events for readers who may not see personal data.
    #[must_use]
    pub fn redacted_store(&self) -> RedactedStore {
        RedactedStore::new(self.store.sealed().clone())
    }

    /// Returns the events as they are stored.
    #[must_use]
    pub fn sealed_store(&self) -> &Arc<dyn EventStore> {
        self.store.sealed()
    }

    /// Erases a person as [`PersonalData::erase`] does, also if the caller goes away meanwhile, such as an operator's request.
    pub async fn erase_in_background(&self, person: Uuid) -> Result<ErasureReport, StoreError> {
        let data = self.clone();
        let erasing = tokio::spawn(async move { data.erase(person).await });
        erasing
            .await
            .unwrap_or_else(|error| Err(StoreError::Refused(format!("the erasure ended: {error}"))))
    }

    /// Erases a person, or completes an erasure that was interrupted. If it fails after the key is destroyed, the report names
    /// the reason, and the loop that follows erasures completes it.
    pub fn erase(&self, person: Uuid) -> BoxFuture<'_, Result<ErasureReport, StoreError>> {
        Box::pin(self.erase_everywhere(person))
    }

    async fn erase_everywhere(&self, person: Uuid) -> Result<ErasureReport, StoreError> {
        let mut report = ErasureReport {
            person,
            ..ErasureReport::default()
        };
        let erased = async {
            self.destroy_key(person).await?;
            self.drop_plain_values().await
        };
        match erased.await {
            Ok(targets) => {
                for (target, dropped) in targets {
                    match dropped {
                        Ok(()) => report.done.push(target),
                        Err(reason) => report.unreached.push(format!("{target}: {reason}")),
                    }
                }
            }
            Err(error) => {
                let mut keys = self.store.keys().store().find(vec![person]).await?;
                if keys.remove(&person) != Some(StoredKey::Erased) {
                    return Err(error);
                }
                report.unreached.push(error.to_string());
            }
        }
        Ok(report)
    }

    /// Destroys the key of a person. From here on, nothing of the person can be sealed or opened. The key store holds the
    /// intent to erase from the same transaction on, and until the announcement is in the event store.
    async fn destroy_key(&self, person: Uuid) -> Result<(), StoreError> {
        let before = find_announcement(&self.store, person).await?;
        let keys = self.store.keys();
        keys.erase(person).await?;
        let open = keys.store().unfinished_erasures().await;
        if !open?.contains(&person) {
            return Ok(());
        }
        let mut announced = self.announced.lock().await;
        if !announced.contains(&person) {
            announce_erasure(&self.store, &self.source, person, before).await?;
            announced.insert(person);
        }
        keys.store().finish_erasure(person).await?;
        announced.remove(&person);
        Ok(())
    }

    /// Lets all parts drop the plain values of the persons who are erased by now. Returns the result of each part.
    async fn drop_plain_values(&self) -> Result<Vec<(String, Result<(), String>)>, StoreError> {
        let _dropping = self.dropping.lock().await;
        // The cipher reads it, so no part fills itself with a key that was in memory.
        let Some(newest) = latest_announcement(&self.store).await? else {
            return Ok(Vec::new());
        };
        // Each rebuild takes its time.
        let dropping = self.targets.iter().map(|target| async {
            let dropped = target.drop_values(newest.hash).await;
            (target.name(), dropped)
        });
        Ok(future::join_all(dropping).await)
    }

    /// Returns what is left of the erasures so far: the announcement of a person, and the parts of this instance that may hold
    /// plain values of erased persons.
    pub(crate) async fn find_open_steps(&self, person: Uuid) -> Result<Vec<String>, StoreError> {
        let mut open = Vec::new();
        let unfinished = self.store.keys().store().unfinished_erasures().await;
        if unfinished?.contains(&person) {
            open.push(
                "the erasure is not announced yet, which a running instance does within seconds"
                    .to_owned(),
            );
        }
        if let Some(newest) = latest_announcement(&**self.store.sealed()).await? {
            for target in self.targets.iter() {
                if !target.has_dropped(newest.hash) {
                    let target = target.name();
                    open.push(format!("{target}: it has not dropped the plain values yet"));
                }
            }
        }
        Ok(open)
    }

    /// Returns the announced persons who are not erased in the key store, which was restored from an old copy.
    async fn find_revived_persons(&self) -> Result<BTreeSet<Uuid>, StoreError> {
        let mut revived = read_announced_persons(&**self.store.sealed()).await?;
        let persons: Vec<_> = revived.iter().copied().collect();
        for persons in persons.chunks(MAX_LOOKUP) {
            let stored = self.store.keys().store().find(persons.to_vec()).await;
            for (person, key) in stored? {
                if key == StoredKey::Erased {
                    revived.remove(&person);
                }
            }
        }
        Ok(revived)
    }

    /// Completes the erasures whose intents are open in the key store: their instance was interrupted, or something failed.
    async fn complete_erasures(&self) {
        let open = match self.store.keys().store().unfinished_erasures().await {
            Ok(open) => open,
            Err(error) => return tracing::warn!(%error, "open erasures cannot be read"),
        };
        for person in open {
            match self.destroy_key(person).await {
                Ok(()) => {
                    tracing::info!(%person, "an interrupted erasure of personal data is completed");
                }
                Err(error) => {
                    tracing::warn!(%person, %error, "an interrupted erasure of personal data cannot be completed yet");
                }
            }
        }
    }

    /// Completes erasures that were interrupted, and follows those of other instances, until the store fails.
    pub fn follow(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.follow_announcements())
    }

    async fn follow_announcements(&self) -> Result<(), StoreError> {
        for person in self.find_revived_persons().await? {
            tracing::warn!(%person, "the key store does not know that a person is erased: the erasure is repeated");
            self.destroy_key(person).await?;
        }
        let newest = latest_announcement(&self.store).await?;
        let options = ObserveOptions::recursive_after(newest.map(|newest| newest.id));
        let announcements = self.store.sealed().observe(all_subject()?, options);
        let mut later = announcements.ready_chunks(MAX_LOOKUP);
        let mut pauses = tokio::time::interval(RETRY_PAUSE);
        pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_due = true;
        loop {
            if is_due {
                let dropped = self.drop_plain_values().await?;
                is_due = dropped.iter().any(|(_, dropped)| dropped.is_err());
            }
            tokio::select! {
                biased;
                announced = later.next() => match announced {
                    None => return Ok(()),
                    Some(announced) => {
                        announced.into_iter().collect::<Result<Vec<_>, _>>()?;
                        is_due = true;
                    }
                },
                _ = pauses.tick() => self.complete_erasures().await,
            }
        }
    }
}
