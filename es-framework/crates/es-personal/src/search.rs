//! Finds all that is stored about one person: values in events, events that name the person, and rows of read models.

use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use uuid::Uuid;

use crate::{
    erasure::PersonalData,
    person_tables::PersonRows,
    personal_store::redact,
    sealed_event::{self, SealError},
};

/// The most values and events of one report.
const MAX_RECORDS: usize = 100_000;

/// All that is stored about a person.
#[doc(hidden)]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonReport {
    /// The id of the person.
    pub person: Uuid,
    /// The personal values in events.
    pub events: Vec<PersonalRecord>,
    /// The other events that name the person by the id.
    pub linked_events: Vec<LinkedEvent>,
    /// The rows that contain the id, of each read model that has some.
    pub read_models: Vec<PersonRows>,
    /// False if there are more events or rows than a report has.
    pub is_complete: bool,
}

/// An event that names the person and holds no personal value of the person.
#[doc(hidden)]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkedEvent {
    /// The event.
    pub event: EventId,
    /// The type of the event.
    pub event_type: String,
    /// The subject of the event.
    pub subject: String,
    /// The time of the event.
    pub time: String,
    /// The data of the event, in an export. Values of other persons are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

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
    /// Returns all that is stored about a person, with what it holds if `with_values` is set.
    pub async fn find(&self, person: Uuid, with_values: bool) -> Result<PersonReport, StoreError> {
        let mut report = self.find_in_events(person, with_values).await?;
        let Some(tables) = &self.tables else {
            return Ok(report);
        };
        let found = tables.find_rows(person).await;
        report.read_models = found.map_err(|reason| StoreError::Unavailable {
            address: "with the read models".to_owned(),
            reason,
        })?;
        for rows in &mut report.read_models {
            report.is_complete &= rows.is_complete;
            rows.rows.take_if(|_| !with_values);
        }
        Ok(report)
    }

    /// Returns the part of a report that is in the events.
    pub(crate) async fn find_in_events(
        &self,
        person: Uuid,
        with_values: bool,
    ) -> Result<PersonReport, StoreError> {
        let keys = self.store.keys().find([person]).await;
        let keys = keys.map_err(|error| StoreError::Refused(error.to_string()))?;
        let key = keys.get(&person).cloned().flatten();
        let mut report = PersonReport {
            person,
            events: Vec::new(),
            linked_events: Vec::new(),
            read_models: Vec::new(),
            is_complete: true,
        };
        let options = ReadOptions::recursive();
        let mut events = self.store.sealed().read(Subject::root(), options);
        let id = person.to_string();
        while let Some(event) = events.try_next().await? {
            if !event.data.get().contains(&id) && !event.subject.as_str().contains(&id) {
                continue;
            }
            let corrupt = |error: SealError| StoreError::Corrupt {
                address: format!("event {}", event.id),
                reason: error.to_string(),
            };
            let mut records = Vec::new();
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
            if records.is_empty() {
                report.linked_events.push(link(event, with_values)?);
            }
            report.events.append(&mut records);
            let count = report.events.len();
            if count.saturating_add(report.linked_events.len()) >= MAX_RECORDS {
                report.is_complete = false;
                break;
            }
        }
        Ok(report)
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

fn link(event: RecordedEvent, with_data: bool) -> Result<LinkedEvent, StoreError> {
    Ok(LinkedEvent {
        event: event.id,
        event_type: event.event_type.as_str().to_owned(),
        subject: event.subject.as_str().to_owned(),
        time: event.time.as_str().to_owned(),
        data: with_data
            .then(|| redact(event).map(|event| event.data))
            .transpose()?,
    })
}
