//! Finds the personal data of one person in the events.

use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    erasure::PersonalData,
    sealed_event::{self, SealError},
};

/// A value of the person in an event.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonalRecord {
    /// The event.
    pub event: EventId,
    /// The type of the event.
    pub event_type: String,
    /// The subject of the event.
    pub subject: String,
    /// The time of the event.
    pub time: String,
    /// The JSON pointer to the value in the data of the event.
    pub path: String,
    /// The form in which the value is stored.
    pub state: StoredForm,
    /// The value, in an export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The form in which a value is stored.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StoredForm {
    /// Sealed, and the person has a key.
    Sealed,
    /// Sealed, and the key is destroyed.
    Erased,
    /// As the client sent it: the event is older than the declaration, or another program wrote it.
    Plain,
}

impl PersonalData {
    /// Returns the values of a person in all events, with what they hold if `with_values` is set.
    pub async fn find(
        &self,
        person: Uuid,
        with_values: bool,
    ) -> Result<Vec<PersonalRecord>, StoreError> {
        let keys = self.store.keys().find([person]).await;
        let keys = keys.map_err(|error| StoreError::Refused(error.to_string()))?;
        let key = keys.get(&person).cloned().flatten();
        let mut records = Vec::new();
        let options = ReadOptions::recursive();
        let mut events = self.store.sealed().read(Subject::root(), options);
        let id = person.to_string();
        while let Some(event) = events.try_next().await? {
            if !event.data.get().contains(&id) {
                continue;
            }
            let corrupt = |error: SealError| StoreError::Corrupt {
                address: format!("event {}", event.id),
                reason: error.to_string(),
            };
            for value in sealed_event::sealed_values(event.data.get()).map_err(corrupt)? {
                if value.person == person {
                    let form = if key.is_some() {
                        StoredForm::Sealed
                    } else {
                        StoredForm::Erased
                    };
                    let opened = match &key {
                        Some(key) if with_values => Some(value.open(key, &event).map_err(corrupt)?),
                        _ => None,
                    };
                    records.push(record(&event, value.path, form, opened));
                }
            }
            // An event that the declaration cannot read holds nothing that the declaration names.
            for (path, value) in self.plain_values(&event, person).unwrap_or_default() {
                let value = with_values.then_some(value);
                records.push(record(&event, path, StoredForm::Plain, value));
            }
        }
        Ok(records)
    }

    /// Returns the declared values of a person that are not sealed.
    fn plain_values(
        &self,
        event: &RecordedEvent,
        person: Uuid,
    ) -> Result<Vec<(String, Value)>, SealError> {
        let events = self.store.events();
        if !events.contains(event.event_type.as_str()) || has_seals(event) {
            return Ok(Vec::new());
        }
        let candidate = EventCandidate {
            source: event.source.clone(),
            subject: event.subject.clone(),
            event_type: event.event_type.clone(),
            data: event.data.clone(),
            trace: None,
        };
        let marked = events.mark(&candidate)?;
        let values = marked.into_iter().flat_map(|marked| marked.values);
        let values = values.filter(|value| value.person == person && !value.is_erased());
        values.map(|value| value.into_plain()).collect()
    }
}

fn has_seals(event: &RecordedEvent) -> bool {
    sealed_event::sealed_values(event.data.get()).is_ok_and(|values| !values.is_empty())
}

fn record(
    event: &RecordedEvent,
    path: String,
    state: StoredForm,
    value: Option<Value>,
) -> PersonalRecord {
    PersonalRecord {
        event: event.id,
        event_type: event.event_type.as_str().to_owned(),
        subject: event.subject.as_str().to_owned(),
        time: event.time.as_str().to_owned(),
        path,
        state,
        value,
    }
}
