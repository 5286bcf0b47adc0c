//! The person whom a subject names with its last segment.

use std::{collections::BTreeSet, fmt};

use es_event::{RecordedEvent, Subject};
use es_store::{ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use uuid::Uuid;

use crate::{erasure::PersonalData, person_keys::SHARED_KEY, personal_store::redact, sealed_event};

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

/// No event names the id in a subject as a person.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPerson {
    subject: Subject,
    /// The persons whose data the events on the subject hold.
    others: BTreeSet<Uuid>,
}

impl fmt::Display for UnknownPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, others } = self;
        write!(f, "no event holds personal data of the id in {subject}")?;
        if others.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = others.iter().map(Uuid::to_string).collect();
        let others = ids.join(", ");
        write!(
            f,
            "; the events on this subject hold personal data of {others}: write a subject that ends with such an id"
        )
    }
}

impl PersonalData {
    /// Returns an error if neither the key store nor an event knows the person in a subject, so that there is nothing to erase.
    pub async fn find_unknown_person(
        &self,
        subject: &Subject,
        person: Uuid,
    ) -> Result<Option<UnknownPerson>, StoreError> {
        let stored = self.store.keys().store().find(vec![person]).await?;
        if stored.contains_key(&person) || self.is_in_events(person).await? {
            return Ok(None);
        }
        let mut others = BTreeSet::new();
        let sealed = self.store.sealed();
        let mut events = sealed.read(subject.clone(), ReadOptions::default());
        while let Some(event) = events.try_next().await? {
            others.extend(self.persons_in(event)?);
        }
        let subject = subject.clone();
        Ok(Some(UnknownPerson { subject, others }))
    }

    async fn is_in_events(&self, person: Uuid) -> Result<bool, StoreError> {
        let mut events = self.read_events_about(person, false).await?;
        while let Some(event) = events.try_next().await? {
            if !event.records.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the persons whose data an event holds, sealed or plain.
    fn persons_in(&self, event: RecordedEvent) -> Result<Vec<Uuid>, StoreError> {
        let sealed = sealed_event::sealed_values(event.data.get()).unwrap_or_default();
        let mut persons: Vec<_> = sealed.iter().map(|value| value.person).collect();
        let redacted = redact(event, None)?;
        let marked = self
            .store
            .events()
            .mark(&redacted.event_type, &redacted.data);
        let plain = marked.ok().flatten().map(|marked| marked.values);
        persons.extend(plain.into_iter().flatten().map(|value| value.person));
        Ok(persons)
    }
}
