//! Finds all that is stored about one person: values in events, events that name the person, and rows of read models.

use std::{future, sync::Arc};

use es_event::{EventId, RecordedEvent, Subject};
use es_store::{ReadOptions, StoreError};
use futures_util::{StreamExt as _, TryStreamExt as _, future::BoxFuture, stream::BoxStream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use uuid::Uuid;

use crate::{
    cipher::PersonKey,
    erasure::PersonalData,
    personal_store::{corrupt, redact},
    read_model_search::PersonRows,
    sealed_event::{self, PersonalEvents, SealError, SealedValue, ValueOpener},
};

/// The most values and events of one report.
const MAX_RECORDS: usize = 100_000;

/// All that is stored about a person.
#[doc(hidden)]
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkedEvent {
    /// The event.
    #[schemars(with = "String")]
    pub event: EventId,
    /// The type of the event.
    pub event_type: String,
    /// The subject of the event.
    pub subject: String,
    /// The time of the event.
    pub time: String,
    /// The data of the event, in an export. Values of other persons are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub data: Option<Box<RawValue>>,
}

/// A value of the person in an event.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonalRecord {
    /// The event.
    #[schemars(with = "String")]
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
    #[schemars(with = "Value")]
    pub value: Option<Value>,
}

/// The form in which a value is stored.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StoredForm {
    /// Sealed, and the key is not destroyed.
    Sealed,
    /// Sealed, and the key is destroyed.
    Erased,
    /// Sealed, and it does not open: the value or the key was changed, moved or lost. Only an export tells.
    Unreadable,
    /// As the client sent it: the event is older than the declaration, or another program wrote it. The path of an event
    /// that the declaration cannot read is that of its payload.
    Plain,
}

impl PersonalData {
    /// Cuts reports after so many values and events.
    #[must_use]
    pub fn with_max_records(mut self, max_records: usize) -> Self {
        self.max_records = Some(max_records);
        self
    }

    /// Returns all that is stored about a person, with what it holds if `with_values` is set.
    pub fn find(
        &self,
        person: Uuid,
        with_values: bool,
    ) -> BoxFuture<'_, Result<PersonReport, StoreError>> {
        Box::pin(self.find_everywhere(person, with_values))
    }

    async fn find_everywhere(
        &self,
        person: Uuid,
        with_values: bool,
    ) -> Result<PersonReport, StoreError> {
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
        let mut report = PersonReport {
            person,
            events: Vec::new(),
            linked_events: Vec::new(),
            read_models: Vec::new(),
            is_complete: true,
        };
        let max_records = self.max_records.unwrap_or(MAX_RECORDS);
        let mut events = self.read_events_about(person, with_values).await?;
        while let Some(EventAboutPerson { event, mut records }) = events.try_next().await? {
            let count = report.events.len();
            if count.saturating_add(report.linked_events.len()) >= max_records {
                report.is_complete = false;
                break;
            }
            if records.is_empty() {
                report.linked_events.push(link(event, with_values)?);
            }
            report.events.append(&mut records);
        }
        Ok(report)
    }

    /// Returns all events that name a person, each with what it holds of this person.
    pub(crate) async fn read_events_about(
        &self,
        person: Uuid,
        with_values: bool,
    ) -> Result<BoxStream<'_, Result<EventAboutPerson, StoreError>>, StoreError> {
        let mut keys = self.store.keys().find([person]).await?;
        let reader = PersonEventReader {
            declared: self.store.events(),
            person,
            id: person.to_string(),
            // A damaged key opens nothing, and is not destroyed.
            key: keys.remove(&person).and_then(Result::ok),
            with_values,
        };
        let options = ReadOptions::recursive();
        let events = self.store.sealed().read(Subject::root(), options);
        let about = events.try_filter_map(move |event| future::ready(reader.read(event)));
        Ok(about.boxed())
    }
}

/// An event that names a person, with the values of this person in it.
pub(crate) struct EventAboutPerson {
    pub(crate) event: RecordedEvent,
    pub(crate) records: Vec<PersonalRecord>,
}

/// Finds in each event what it holds of one person.
struct PersonEventReader<'a> {
    declared: &'a PersonalEvents,
    person: Uuid,
    id: String,
    /// `None` if the key store has no usable key of the person, `Some(None)` if the key is destroyed.
    key: Option<Option<Arc<PersonKey>>>,
    with_values: bool,
}

impl PersonEventReader<'_> {
    /// Returns `None` if the event does not name the person.
    fn read(&self, event: RecordedEvent) -> Result<Option<EventAboutPerson>, StoreError> {
        let is_about =
            event.data.get().contains(&self.id) || event.subject.as_str().contains(&self.id);
        if !is_about {
            return Ok(None);
        }
        let records = self
            .records(&event)
            .map_err(|error| corrupt(&event, &error))?;
        Ok(Some(EventAboutPerson { event, records }))
    }

    fn records(&self, event: &RecordedEvent) -> Result<Vec<PersonalRecord>, SealError> {
        let sealed = sealed_event::sealed_values(event.data.get())?;
        let mut opener = ValueOpener::default();
        let redacted = sealed_event::redact(event.data.get(), None)?;
        let mut records =
            self.plain_records(event, redacted.as_ref().unwrap_or(&event.data), &sealed)?;
        for value in sealed.iter().filter(|value| value.person == self.person) {
            let (state, opened) = match &self.key {
                Some(None) => (StoredForm::Erased, None),
                Some(Some(key)) if self.with_values => match opener.open_value(event, value, key) {
                    Ok(json) => (StoredForm::Sealed, Some(serde_json::from_str(json)?)),
                    Err(_) => (StoredForm::Unreadable, None),
                },
                None if self.with_values => (StoredForm::Unreadable, None),
                Some(Some(_)) | None => (StoredForm::Sealed, None),
            };
            records.push(record(event, value.path.clone(), state, opened));
        }
        Ok(records)
    }

    /// Returns the declared values that are not sealed. An event with sealed values has some if a declaration came later.
    fn plain_records(
        &self,
        event: &RecordedEvent,
        redacted: &RawValue,
        sealed: &[SealedValue<'_>],
    ) -> Result<Vec<PersonalRecord>, SealError> {
        if !self.declared.contains(event.event_type.as_str()) {
            return Ok(Vec::new());
        }
        let mut records = Vec::new();
        let mut add = |path, value| {
            let value = self.with_values.then_some(value);
            records.push(record(event, path, StoredForm::Plain, value));
        };
        match self.declared.mark(&event.event_type, redacted) {
            Ok(marked) => {
                for value in marked.into_iter().flat_map(|marked| marked.values) {
                    let is_sealed = sealed.iter().any(|sealed| value.is_in(&sealed.path));
                    if value.person == self.person && !value.is_erased() && !is_sealed {
                        let (path, value) = value.into_plain()?;
                        add(path, value);
                    }
                }
            }
            // Nobody knows which parts of it are personal.
            Err(_) => {
                let mut data: Value = serde_json::from_str(redacted.get())?;
                let payload = data.get_mut("payload").map(Value::take);
                add("/payload".to_owned(), payload.unwrap_or_default());
            }
        }
        Ok(records)
    }
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
            .then(|| redact(event, None).map(|event| event.data))
            .transpose()?,
    })
}
