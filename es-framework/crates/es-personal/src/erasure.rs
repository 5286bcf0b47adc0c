//! The erasure of a person: the key is destroyed, an event announces it, and all that holds plain values drops them.
//!
//! Each step can be repeated, so an erasure that was interrupted is completed by the next start or by repeating it.

use std::{collections::BTreeSet, fmt, mem, path::PathBuf, sync::Arc, time::Duration};

use es_event::{
    EventCandidate, EventId, InvalidSubjectValue, Metadata, RecordedEvent, Subject,
    SubjectTemplatePart,
};
use es_store::{
    AppendError, Bound, EventStore, ObserveOptions, Precondition, ReadOptions, StoreError,
};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    erasure_target::{DroppedValues, ErasureTarget, drop_until},
    key_link::ERASURE,
    key_store::StoredKey,
    person_keys::SHARED_KEY,
    person_tables::PersonTables,
    personal_store::PersonalStore,
    redacted_store::RedactedStore,
};

const SUBJECT: &str = es_event::personal::ERASURES;

/// The most persons of one look-up, and the most announcements that are followed at once.
const MAX_LOOKUP: usize = 1_000;

/// The time after which plain values are dropped again where that failed, or where another instance should do it.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The announcement. It names the person by the id alone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErasureAnnouncement {
    person: Uuid,
    key_store: Uuid,
}

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
    /// The last announcement after which this instance stopped using a key.
    last: Option<EventId>,
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

    /// Erases a person, or completes an erasure that was interrupted.
    pub async fn erase(&self, person: Uuid) -> Result<ErasureReport, StoreError> {
        let had_key = self.has_stored_key(person).await?;
        self.erase_again(person, had_key).await
    }

    /// Erases a person. If `drops_again`, plain values are dropped even though an earlier erasure did it: a key that came
    /// back with an old copy of the key store may have opened values since then.
    async fn erase_again(
        &self,
        person: Uuid,
        drops_again: bool,
    ) -> Result<ErasureReport, StoreError> {
        let is_first = self.destroy_key(person).await?;
        let is_forced = drops_again && !is_first;
        let dropped = self.drop_plain_values(is_forced).await?;
        // Otherwise the targets know what is left.
        if !is_forced || dropped.is_complete() {
            let finished = self.store.keys().store().finish_erasure(person).await;
            finished.map_err(unavailable)?;
        }
        let elsewhere = dropped.elsewhere.into_iter();
        let elsewhere = elsewhere.map(|name| format!("{name}, by the instance that keeps it"));
        Ok(ErasureReport {
            person,
            done: dropped.done.into_iter().chain(elsewhere).collect(),
            unreached: dropped.unreached,
        })
    }

    /// Destroys the key of a person and announces it. Returns true if it was not announced before. From here on, nothing of the
    /// person can be sealed or opened.
    async fn destroy_key(&self, person: Uuid) -> Result<bool, StoreError> {
        let erased = self.store.keys().erase(person).await;
        erased.map_err(unavailable)?;
        self.announce(person).await
    }

    async fn has_stored_key(&self, person: Uuid) -> Result<bool, StoreError> {
        let stored = self.store.keys().store().find(vec![person]).await;
        let stored = stored.map_err(unavailable)?;
        Ok(matches!(stored.get(&person), Some(StoredKey::Key(_))))
    }

    /// Appends the announcement, unless it is there. Returns true if it was not.
    async fn announce(&self, person: Uuid) -> Result<bool, StoreError> {
        let refused = |error: String| StoreError::Refused(error);
        let subject = subject_of(person).map_err(|error| refused(error.to_string()))?;
        self.store
            .link()
            .ensure()
            .await
            .map_err(|error| refused(error.to_string()))?;
        let key_store = self.store.keys().store().identity();
        let announcement = ErasureAnnouncement { person, key_store };
        let data = es_event::encode(&Metadata::default(), &announcement);
        let candidate = EventCandidate {
            source: Arc::clone(&self.source),
            subject: subject.clone(),
            event_type: ERASURE,
            data: data.map_err(|error| refused(error.to_string()))?,
            trace: None,
        };
        let pristine = vec![Precondition::SubjectIsPristine(subject)];
        match self.store.append(vec![candidate], pristine).await {
            Ok(_) => Ok(true),
            Err(AppendError::Conflict(_)) => Ok(false),
            Err(AppendError::Store(error)) => Err(error),
            // Repeating the erasure finds out.
            Err(AppendError::Unknown { address, reason }) => {
                Err(StoreError::Unavailable { address, reason })
            }
            Err(error) => Err(refused(error.to_string())),
        }
    }

    /// Returns the persons of the announcements after one, and the last announcement.
    async fn read_announcements(
        &self,
        after: Option<EventId>,
    ) -> Result<(Vec<Uuid>, Option<EventId>), StoreError> {
        let options = ReadOptions {
            lower_bound: after.map(Bound::Exclusive),
            ..ReadOptions::recursive()
        };
        let (mut persons, mut last) = (Vec::new(), after);
        let mut announcements = self.store.sealed().read(all_subject()?, options);
        while let Some(event) = announcements.try_next().await? {
            persons.extend(person_in(&event));
            last = Some(event.id);
        }
        Ok((persons, last))
    }

    /// Stops using the keys of all persons who were announced, and returns the last announcement.
    async fn follow_announcements(
        &self,
        followed: &mut FollowedErasures,
    ) -> Result<Option<EventId>, StoreError> {
        let (persons, last) = self.read_announcements(followed.last).await?;
        for person in persons {
            self.store.keys().forget(person);
        }
        followed.last = last;
        Ok(last)
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
                && let Err(reason) = target.record_erasure(newest).await
            {
                tracing::debug!(target = target.name(), reason, "an erasure is not recorded");
            }
        }
        Ok(())
    }

    /// Drops the plain values of all persons who are erased by now, where an announcement is newer than the last one after
    /// which that was done, or everywhere.
    async fn drop_plain_values(&self, is_forced: bool) -> Result<DroppedValues, StoreError> {
        let mut dropped = DroppedValues::default();
        let mut followed = self.followed.lock().await;
        let Some(newest) = self.follow_announcements(&mut followed).await? else {
            return Ok(dropped);
        };
        for (number, target) in self.targets.iter().enumerate() {
            if is_forced {
                followed.open.insert(number);
            }
            let has_dropped = if followed.open.contains(&number) {
                Ok(false)
            } else {
                let last = target.last_erasure().await;
                last.map(|last| last >= Some(newest))
            };
            let result = match has_dropped {
                Ok(false) => drop_until(&**target, newest, is_forced).await,
                known => known,
            };
            if result == Ok(true) {
                followed.open.remove(&number);
            }
            dropped.record(target.name(), result);
        }
        Ok(dropped)
    }

    /// Returns the announced persons who have a key: the key store was restored from an old copy.
    async fn find_revived_persons(&self) -> Result<Vec<Uuid>, StoreError> {
        let (persons, _) = self.read_announcements(None).await?;
        let mut revived = Vec::new();
        for persons in persons.chunks(MAX_LOOKUP) {
            let stored = self.store.keys().store().find(persons.to_vec()).await;
            let stored = stored.map_err(unavailable)?.into_iter();
            let revived_now = stored.filter(|(_, key)| matches!(key, StoredKey::Key(_)));
            revived.extend(revived_now.map(|(person, _)| person));
        }
        Ok(revived)
    }

    /// Completes erasures that were interrupted, and follows those of other instances, until the store fails.
    pub async fn follow(&self) -> Result<(), StoreError> {
        let unfinished = self.store.keys().store().unfinished_erasures().await;
        let mut open = unfinished.map_err(unavailable)?;
        for person in &open {
            tracing::info!(%person, "an interrupted erasure of personal data is completed");
        }
        for person in self.find_revived_persons().await? {
            tracing::warn!(%person, "the key store has the key of an erased person: it is destroyed again");
            open.push(person);
        }
        for person in &open {
            self.destroy_key(*person).await?;
        }
        let followed = {
            let mut followed = self.followed.lock().await;
            self.follow_announcements(&mut followed).await?
        };
        let options = ObserveOptions::recursive_after(followed);
        let later = self.store.sealed().observe(all_subject()?, options);
        let mut later = later.ready_chunks(MAX_LOOKUP);
        let mut is_forced = !open.is_empty();
        loop {
            let dropped = self.drop_plain_values(mem::take(&mut is_forced)).await?;
            if dropped.is_complete() {
                for person in open.drain(..) {
                    let finished = self.store.keys().store().finish_erasure(person).await;
                    finished.map_err(unavailable)?;
                }
            }
            let announced = if dropped.is_complete() {
                later.next().await
            } else {
                let announced = tokio::time::timeout(RETRY_PAUSE, later.next()).await;
                announced.unwrap_or_else(|_| Some(Vec::new()))
            };
            let Some(announced) = announced else {
                return Ok(());
            };
            announced.into_iter().collect::<Result<Vec<_>, _>>()?;
        }
    }
}

fn all_subject() -> Result<Subject, StoreError> {
    let subject = Subject::fill_template(&[SubjectTemplatePart::Text(SUBJECT)]);
    subject.map_err(|error| StoreError::Refused(error.to_string()))
}

fn subject_of(person: Uuid) -> Result<Subject, InvalidSubjectValue> {
    let id = person.to_string();
    Subject::fill_template(&[
        SubjectTemplatePart::Text(SUBJECT),
        SubjectTemplatePart::Text("/"),
        SubjectTemplatePart::Field("person", &id),
    ])
}

fn person_in(event: &RecordedEvent) -> Option<Uuid> {
    let erased = event.payload::<ErasureAnnouncement>();
    let erased = erased.inspect_err(|error| tracing::warn!(%error, "an erasure names nobody"));
    Some(erased.ok()?.person).filter(|person| *person != SHARED_KEY)
}

fn unavailable(error: impl fmt::Display) -> StoreError {
    StoreError::Unavailable {
        address: "with the keys of persons".to_owned(),
        reason: error.to_string(),
    }
}
