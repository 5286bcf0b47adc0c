//! The erasure of a person: the key is destroyed, an event announces it, and all that holds plain values drops them.
//!
//! Each step can be repeated, so an erasure that was interrupted is completed by the next start or by repeating it.

use std::{
    collections::BTreeSet,
    mem,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use es_event::Subject;
use es_store::{EventStore, ObserveOptions, StoreError};
use futures_util::{StreamExt as _, future};
use serde::{Deserialize, Serialize};
use tokio::{sync::Mutex, time::timeout};
use uuid::Uuid;

use crate::{
    erasure_announcement::{AnnouncedErasure, all_subject, announce_erasure, read_announcements},
    erasure_target::{DroppedValues, ErasureTarget, drop_until},
    key_store::StoredKey,
    person_keys::SHARED_KEY,
    person_tables::PersonTables,
    personal_store::{PersonalStore, unavailable},
    redacted_store::RedactedStore,
};

/// The most persons of one look-up, and the most announcements that are followed at once.
const MAX_LOOKUP: usize = 1_000;

/// The time after which plain values are dropped again where that failed, or where another instance should do it.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The subject does not end with the id of a person.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} does not end with the id of a person, which is a UUID, as in /readers/0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55"
)]
pub struct SubjectWithoutPerson(pub Subject);

/// Returns the person whom a subject names with its last segment.
#[doc(hidden)]
pub fn person_of(subject: &Subject) -> Result<Uuid, SubjectWithoutPerson> {
    let last = subject.as_str().rsplit('/').next().unwrap_or_default();
    let person = last.parse().ok().filter(|id: &Uuid| *id != SHARED_KEY);
    person.ok_or_else(|| SubjectWithoutPerson(subject.clone()))
}

/// The result of an erasure.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureReport {
    /// The id of the person.
    pub person: Uuid,
    /// The parts that dropped the plain values.
    pub done: Vec<String>,
    /// The parts that the erasure could not reach, each with the reason.
    pub unreached: Vec<String>,
}

/// The erasures that this instance knows.
#[derive(Debug, Default)]
struct FollowedErasures {
    /// The last erasure after which this instance stopped using a key.
    last: Option<AnnouncedErasure>,
    /// The targets, by number, that have to drop plain values again and have not done so yet.
    open: BTreeSet<usize>,
}

/// Finds, erases and verifies the personal data of persons.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonalData {
    pub(crate) store: PersonalStore,
    source: Arc<str>,
    targets: Arc<[Arc<dyn ErasureTarget>]>,
    pub(crate) tables: Option<Arc<dyn PersonTables>>,
    pub(crate) files: Arc<[PathBuf]>,
    /// The most values and events of a report, if it is not the usual number.
    pub(crate) max_records: Option<usize>,
    /// Only its holder drops plain values.
    followed: Arc<Mutex<FollowedErasures>>,
    /// True after an erasure failed. If it destroyed the key, it has to be completed.
    has_failed: Arc<AtomicBool>,
}

impl PersonalData {
    /// Erases from this store and these targets.
    #[must_use]
    pub fn new(
        store: PersonalStore,
        source: Arc<str>,
        targets: Vec<Arc<dyn ErasureTarget>>,
    ) -> Self {
        Self {
            store,
            source,
            targets: targets.into(),
            tables: None,
            files: Arc::default(),
            max_records: None,
            followed: Arc::default(),
            has_failed: Arc::default(),
        }
    }

    /// Looks for persons in the tables of the read models as well.
    #[must_use]
    pub fn with_tables(self, tables: Arc<dyn PersonTables>) -> Self {
        let tables = Some(tables);
        Self { tables, ..self }
    }

    /// Names the files and folders that this instance writes.
    #[must_use]
    pub fn with_files(self, files: Vec<PathBuf>) -> Self {
        let files = files.into();
        Self { files, ..self }
    }

    /// Returns the events for readers who may not see personal data.
    #[must_use]
    pub fn redacted_store(&self) -> RedactedStore {
        RedactedStore::new(Arc::clone(self.store.sealed()))
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
            .unwrap_or_else(|error| Err(unavailable(error)))
    }

    /// Erases a person, or completes an erasure that was interrupted. If it fails after the key is destroyed, the report names
    /// the reason, and the loop that follows erasures completes it.
    pub async fn erase(&self, person: Uuid) -> Result<ErasureReport, StoreError> {
        // A key that came back with an old copy of the key store may have opened values since the erasure before.
        let had_key = matches!(self.find_key(person).await?, Some(StoredKey::Key(_)));
        let dropped = match self.destroy_and_drop(person, had_key).await {
            Ok(dropped) => dropped,
            Err(error) => {
                self.has_failed.store(true, Ordering::SeqCst);
                let Ok(Some(StoredKey::Erased)) = self.find_key(person).await else {
                    return Err(error);
                };
                DroppedValues {
                    unreached: vec![error.to_string()],
                    ..DroppedValues::default()
                }
            }
        };
        let elsewhere = dropped.elsewhere.into_iter();
        let elsewhere = elsewhere.map(|name| format!("{name}, by the instance that keeps it"));
        Ok(ErasureReport {
            person,
            done: dropped.done.into_iter().chain(elsewhere).collect(),
            unreached: dropped.unreached,
        })
    }

    /// Erases a person. If `drops_again`, plain values are dropped even though an earlier erasure did it.
    async fn destroy_and_drop(
        &self,
        person: Uuid,
        drops_again: bool,
    ) -> Result<DroppedValues, StoreError> {
        let is_first = self.destroy_key(person).await?;
        let is_forced = drops_again && !is_first;
        let dropped = self.drop_plain_values(is_forced).await?;
        // Otherwise the targets know what is left.
        if !is_forced || dropped.is_complete() {
            self.finish_erasure(person).await?;
        }
        Ok(dropped)
    }

    /// Destroys the key of a person and announces it. Returns true if it was not announced before. From here on, nothing of the
    /// person can be sealed or opened.
    async fn destroy_key(&self, person: Uuid) -> Result<bool, StoreError> {
        let erased = self.store.keys().erase(person).await;
        erased.map_err(unavailable)?;
        announce_erasure(&self.store, &self.source, person).await
    }

    async fn find_key(&self, person: Uuid) -> Result<Option<StoredKey>, StoreError> {
        let stored = self.store.keys().store().find(vec![person]).await;
        Ok(stored.map_err(unavailable)?.remove(&person))
    }

    async fn finish_erasure(&self, person: Uuid) -> Result<(), StoreError> {
        let finished = self.store.keys().store().finish_erasure(person).await;
        finished.map_err(unavailable)
    }

    async fn read_announcements(
        &self,
        from: Option<AnnouncedErasure>,
    ) -> Result<Vec<AnnouncedErasure>, StoreError> {
        read_announcements(&**self.store.sealed(), from.map(|from| from.id)).await
    }

    /// Stops using the keys of all persons who were announced, and returns the last announcement.
    async fn follow_announcements(
        &self,
        followed: &mut FollowedErasures,
    ) -> Result<Option<AnnouncedErasure>, StoreError> {
        let last = followed.last;
        let mut announced = self.read_announcements(last).await?;
        // After a restore or a loss, the event store has other announcements.
        if last.is_some() && announced.first() != last.as_ref() {
            announced = self.read_announcements(None).await?;
        }
        for person in announced.iter().filter_map(|erasure| erasure.person) {
            self.store.keys().forget(person);
        }
        followed.last = announced.last().copied();
        Ok(followed.last)
    }

    /// Records the erasures so far in targets that hold nothing yet: they will be filled without erased values. Called before
    /// anything is read from the event store.
    pub async fn prepare(&self) -> Result<(), StoreError> {
        let mut followed = self.followed.lock().await;
        let newest = self.follow_announcements(&mut followed).await?;
        for target in self.targets.iter() {
            let is_new = matches!(target.last_erasure().await, Ok(None))
                && matches!(target.is_empty().await, Ok(true));
            if is_new
                && let Some(newest) = newest
                && let Err(reason) = target.record_erasure(newest.hash).await
            {
                tracing::debug!(target = target.name(), reason, "an erasure is not recorded");
            }
        }
        Ok(())
    }

    /// Drops the plain values of all persons who are erased by now, where that was not done after the newest announcement,
    /// or everywhere.
    async fn drop_plain_values(&self, is_forced: bool) -> Result<DroppedValues, StoreError> {
        let mut dropped = DroppedValues::default();
        let mut followed = self.followed.lock().await;
        let Some(newest) = self.follow_announcements(&mut followed).await? else {
            return Ok(dropped);
        };
        if is_forced {
            followed.open.extend(0..self.targets.len());
        }
        // Each rebuild takes its time.
        let results = self.targets.iter().enumerate().map(|(number, target)| {
            let is_open = followed.open.contains(&number);
            async move {
                let is_done = !is_open && target.last_erasure().await? == Some(newest.hash);
                if is_done {
                    return Ok(true);
                }
                drop_until(&**target, newest.hash, is_forced).await
            }
        });
        let results = future::join_all(results).await;
        for (number, (target, result)) in self.targets.iter().zip(results).enumerate() {
            if result == Ok(true) {
                followed.open.remove(&number);
            }
            dropped.record(target.name(), result);
        }
        Ok(dropped)
    }

    /// Returns the announced persons who have a key: the key store was restored from an old copy.
    async fn find_revived_persons(&self) -> Result<Vec<Uuid>, StoreError> {
        let announced = self.read_announcements(None).await?.into_iter();
        let persons: Vec<_> = announced.filter_map(|erasure| erasure.person).collect();
        let mut revived = Vec::new();
        for persons in persons.chunks(MAX_LOOKUP) {
            let stored = self.store.keys().store().find(persons.to_vec()).await;
            let stored = stored.map_err(unavailable)?.into_iter();
            let revived_now = stored.filter(|(_, key)| matches!(key, StoredKey::Key(_)));
            revived.extend(revived_now.map(|(person, _)| person));
        }
        Ok(revived)
    }

    /// Destroys and announces again what interrupted erasures left, beside those that are open. Returns true if there was some.
    async fn resume_erasures(&self, open: &mut BTreeSet<Uuid>) -> Result<bool, StoreError> {
        self.has_failed.store(false, Ordering::SeqCst);
        let unfinished = self.store.keys().store().unfinished_erasures().await;
        let open_before = open.len();
        for person in unfinished.map_err(unavailable)? {
            if open.contains(&person) {
                continue;
            }
            match self.destroy_key(person).await {
                Ok(_) => {
                    tracing::info!(%person, "an interrupted erasure of personal data is completed");
                    open.insert(person);
                }
                Err(error) => {
                    tracing::warn!(%person, %error, "an interrupted erasure of personal data cannot be completed yet");
                    self.has_failed.store(true, Ordering::SeqCst);
                }
            }
        }
        Ok(open.len() > open_before)
    }

    /// Completes erasures that were interrupted, and follows those of other instances, until the store fails.
    pub async fn follow(&self) -> Result<(), StoreError> {
        let mut open = BTreeSet::new();
        self.resume_erasures(&mut open).await?;
        for person in self.find_revived_persons().await? {
            tracing::warn!(%person, "the key store has the key of an erased person: it is destroyed again");
            self.destroy_key(person).await?;
            open.insert(person);
        }
        let followed = {
            let mut followed = self.followed.lock().await;
            self.follow_announcements(&mut followed).await?
        };
        let options = ObserveOptions::recursive_after(followed.map(|last| last.id));
        let later = self.store.sealed().observe(all_subject()?, options);
        let mut later = later.ready_chunks(MAX_LOOKUP);
        let (mut is_due, mut is_forced) = (true, !open.is_empty());
        loop {
            if is_due {
                let dropped = self.drop_plain_values(mem::take(&mut is_forced)).await?;
                is_due = !dropped.is_complete();
            }
            if !is_due {
                for person in mem::take(&mut open) {
                    self.finish_erasure(person).await?;
                }
            }
            match timeout(RETRY_PAUSE, later.next()).await {
                Ok(None) => return Ok(()),
                Ok(Some(announced)) => {
                    announced.into_iter().collect::<Result<Vec<_>, _>>()?;
                    is_due = true;
                }
                Err(_) if self.has_failed.load(Ordering::SeqCst) => {
                    is_forced = self.resume_erasures(&mut open).await?;
                    is_due |= is_forced;
                }
                Err(_) => {}
            }
        }
    }
}
