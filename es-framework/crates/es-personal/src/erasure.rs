//! The erasure of a person: the key is destroyed, an event announces it, and all that holds plain values drops them.
//!
//! Each step can be repeated, so an erasure that was interrupted is completed by the next start or by repeating it.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use es_event::{
    EventCandidate, InvalidSubjectValue, Metadata, RecordedEvent, Subject, SubjectTemplatePart,
};
use es_store::{
    AppendError, EventStore as _, ObserveOptions, Precondition, ReadOptions, StoreError,
};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{key_link::ERASURE, personal_store::PersonalStore, redacted_store::RedactedStore};

const SUBJECT: &str = "/es-framework/personal-data";

/// The announcement. It names the person by the id alone.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErasureAnnouncement {
    person: Uuid,
    key_store: Uuid,
}

/// Something that holds plain values of persons, such as a cache or a table.
#[doc(hidden)]
#[async_trait]
pub trait ErasureTarget: fmt::Debug + Send + Sync + 'static {
    /// Returns its name, as operators know it.
    fn name(&self) -> String;

    /// Drops the plain values of a person. Returns false if another instance does it when it reads the announcement.
    async fn forget(&self, person: Uuid) -> Result<bool, String>;
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
    last.parse()
        .map_err(|_| SubjectWithoutPerson(subject.clone()))
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

/// Finds, erases and verifies the personal data of persons.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct PersonalData {
    pub(crate) store: PersonalStore,
    source: Arc<str>,
    targets: Arc<[Arc<dyn ErasureTarget>]>,
    /// The persons whom this instance has announced, until it reads its own announcement.
    announced: Arc<Mutex<HashSet<Uuid>>>,
}

impl PersonalData {
    /// Erases from this store and these targets.
    #[must_use]
    pub fn new(
        store: PersonalStore,
        source: Arc<str>,
        targets: Vec<Arc<dyn ErasureTarget>>,
    ) -> Self {
        let targets = targets.into();
        let announced = Arc::default();
        Self {
            store,
            source,
            targets,
            announced,
        }
    }

    /// Returns the events for readers who may not see personal data.
    #[must_use]
    pub fn redacted_store(&self) -> RedactedStore {
        RedactedStore::new(Arc::clone(self.store.sealed()))
    }

    /// Erases a person, or completes an erasure that was interrupted.
    pub async fn erase(&self, person: Uuid) -> Result<ErasureReport, StoreError> {
        // From here on, nothing of the person can be sealed or opened.
        self.store.keys().erase(person).await.map_err(unavailable)?;
        self.announce(person).await?;
        self.forget(person).await
    }

    /// Appends the announcement, unless it is there.
    async fn announce(&self, person: Uuid) -> Result<(), StoreError> {
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
            Ok(_) => {
                self.lock_announced().insert(person);
                Ok(())
            }
            Err(AppendError::Conflict(_)) => Ok(()),
            Err(AppendError::Store(error)) => Err(error),
            // Repeating the erasure finds out.
            Err(AppendError::Unknown { address, reason }) => {
                Err(StoreError::Unavailable { address, reason })
            }
            Err(error) => Err(refused(error.to_string())),
        }
    }

    fn lock_announced(&self) -> MutexGuard<'_, HashSet<Uuid>> {
        let announced = self.announced.lock();
        announced.unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the plain values in this instance, and records the end of the erasure if they were all here.
    async fn forget(&self, person: Uuid) -> Result<ErasureReport, StoreError> {
        let (mut done, mut unreached) = (Vec::new(), Vec::new());
        let mut is_complete = true;
        for target in self.targets.iter() {
            match target.forget(person).await {
                Ok(true) => done.push(target.name()),
                Ok(false) => {
                    is_complete = false;
                    done.push(format!("{}, by the instance that keeps it", target.name()));
                }
                Err(reason) => unreached.push(format!("{}: {reason}", target.name())),
            }
        }
        if is_complete && unreached.is_empty() {
            let keys = self.store.keys().store();
            keys.finish_erasure(person).await.map_err(unavailable)?;
        }
        Ok(ErasureReport {
            person,
            done,
            unreached,
        })
    }

    /// Completes erasures that were interrupted, and follows those of other instances, until the store fails.
    pub async fn follow(&self) -> Result<(), StoreError> {
        let keys = self.store.keys();
        for person in keys
            .store()
            .unfinished_erasures()
            .await
            .map_err(unavailable)?
        {
            tracing::info!(%person, "an interrupted erasure of personal data is completed");
            self.erase(person).await?;
        }
        let subject = all_subject().map_err(|error| StoreError::Refused(error.to_string()))?;
        let mut last = None;
        let mut earlier = self
            .store
            .sealed()
            .read(subject.clone(), ReadOptions::recursive());
        while let Some(event) = earlier.try_next().await? {
            last = Some(event.id);
            // The key is still there only if the key store was restored from a copy.
            if let Some(person) = person_in(&event)
                && keys
                    .has_key(person)
                    .await
                    .map_err(|error| unavailable(error.to_string()))?
            {
                tracing::warn!(%person, "the key store has the key of an erased person: it is destroyed again");
                self.erase(person).await?;
            }
        }
        let options = ObserveOptions {
            recursive: true,
            lower_bound: last.map(es_store::Bound::Exclusive),
            ..ObserveOptions::default()
        };
        let mut later = self.store.sealed().observe(subject, options);
        while let Some(event) = later.next().await.transpose()? {
            if let Some(person) = person_in(&event)
                && !self.lock_announced().remove(&person)
            {
                keys.forget(person);
                self.forget(person).await?;
            }
        }
        Ok(())
    }
}

fn all_subject() -> Result<Subject, InvalidSubjectValue> {
    Subject::fill_template(&[SubjectTemplatePart::Text(SUBJECT)])
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
    Some(erased.ok()?.person)
}

fn unavailable(error: impl fmt::Display) -> StoreError {
    StoreError::Unavailable {
        address: "with the keys of persons".to_owned(),
        reason: error.to_string(),
    }
}
