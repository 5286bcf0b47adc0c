//! The event that announces the erasure of a person. It names the person by the id alone.

use std::{collections::BTreeSet, future, sync::Arc};

use es_event::{
    EventCandidate, EventId, InvalidSubjectValue, Metadata, RecordedEvent, Subject,
    SubjectTemplatePart,
    personal::{ERASURES, erasures_subject},
};
use es_store::{AppendError, EventLog, Precondition, ReadOptions, StoreError, latest_event};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{key_link::ERASURE, person_keys::SHARED_KEY, personal_store::PersonalStore};

/// The payload of the event.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErasureAnnouncement {
    person: Uuid,
    key_store: Uuid,
}

/// Returns the last announcement of a person.
pub(crate) async fn find_announcement(
    store: &PersonalStore,
    person: Uuid,
) -> Result<Option<EventId>, StoreError> {
    let subject = subject_of(person).map_err(|error| StoreError::Refused(error.to_string()))?;
    let latest = latest_event(&**store.sealed(), subject, false).await?;
    Ok(latest.map(|event| event.id))
}

/// Appends the announcement behind the one that was there before the key was destroyed, unless another instance has done it.
pub(crate) async fn announce_erasure(
    store: &PersonalStore,
    source: &Arc<str>,
    person: Uuid,
    before: Option<EventId>,
) -> Result<(), StoreError> {
    let refused = |error: String| StoreError::Refused(error);
    let subject = subject_of(person).map_err(|error| refused(error.to_string()))?;
    store.ensure_link().await?;
    let key_store = store.keys().store().identity();
    let announcement = ErasureAnnouncement { person, key_store };
    let data = es_event::encode(&Metadata::default(), &announcement);
    let candidate = EventCandidate {
        source: Arc::clone(source),
        subject: subject.clone(),
        event_type: ERASURE,
        data: data.map_err(|error| refused(error.to_string()))?,
        trace: None,
    };
    let unchanged = vec![Precondition::subject_is_unchanged(subject, before)];
    match store.append(vec![candidate], unchanged).await {
        Ok(_) | Err(AppendError::Conflict(_)) => Ok(()),
        Err(AppendError::Store(error)) => Err(error),
        // Repeating the erasure finds out.
        Err(AppendError::Unknown { address, reason }) => {
            Err(StoreError::Unavailable { address, reason })
        }
        Err(error) => Err(refused(error.to_string())),
    }
}

/// Returns the last announcement of all.
pub(crate) async fn latest_announcement(
    store: &dyn EventLog,
) -> Result<Option<RecordedEvent>, StoreError> {
    latest_event(store, all_subject()?, true).await
}

/// Returns the persons who were announced.
pub(crate) async fn read_announced_persons(
    store: &dyn EventLog,
) -> Result<BTreeSet<Uuid>, StoreError> {
    let announcements = store.read(all_subject()?, ReadOptions::recursive());
    let persons = announcements.try_filter_map(|event| future::ready(Ok(person_in(&event))));
    persons.try_collect().await
}

/// Returns the subject above those of all announcements.
pub(crate) fn all_subject() -> Result<Subject, StoreError> {
    erasures_subject().map_err(|error| StoreError::Refused(error.to_string()))
}

fn subject_of(person: Uuid) -> Result<Subject, InvalidSubjectValue> {
    let id = person.to_string();
    Subject::fill_template(&[
        SubjectTemplatePart::Text(ERASURES),
        SubjectTemplatePart::Text("/"),
        SubjectTemplatePart::Field("person", &id),
    ])
}

fn person_in(event: &RecordedEvent) -> Option<Uuid> {
    let announcement = event
        .payload::<ErasureAnnouncement>()
        .inspect_err(|error| tracing::warn!(%error, "an erasure names nobody"));
    Some(announcement.ok()?.person).filter(|person| *person != SHARED_KEY)
}
