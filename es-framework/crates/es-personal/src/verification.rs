//! Verifies an erasure: whether values can still be opened, and whether the framework stores plain values.

use es_event::Subject;
use es_store::{ReadOptions, StoreError};
use futures_util::{TryStreamExt as _, future::BoxFuture};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    erasure::{ErasureReport, PersonalData},
    personal_store::redact,
    search::{EventAboutPerson, StoredForm},
};

/// The most events that a list names.
const MAX_PLACES: usize = 100;

/// Shorter texts are everywhere.
const MIN_LENGTH: usize = 3;

/// The result of a verification.
#[doc(hidden)]
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PersonVerification")]
pub struct Verification {
    /// The id of the person.
    pub person: Uuid,
    /// True if no value of the person can be read from the events, and nothing of an erasure is pending in this instance.
    pub is_erased: bool,
    /// The parts of this instance that may hold plain values of erased persons, and an announcement that is missing.
    pub pending: Vec<String>,
    /// The number of values that can be opened.
    pub sealed: usize,
    /// The number of values whose key is destroyed.
    pub erased: usize,
    /// The number of values that were never sealed.
    pub plain: usize,
    /// The first events with such values.
    pub plain_events: Vec<String>,
    /// The number of these events.
    pub plain_event_count: usize,
    /// The number of events that name the person and hold no value of the person.
    pub linked_event_count: usize,
    /// The places that were searched for plain values: the events with idempotency records and unique values, snapshots, rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<String>,
    /// The places that contain a value, and the number of further events. Another person may have the same one.
    pub found: Vec<String>,
    /// The places and values that were not searched, each with the reason.
    pub unsearched: Vec<String>,
    /// False if a list is cut, or a place could not be searched.
    pub is_complete: bool,
}

/// Collects the texts in JSON values, at any depth.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(members) => members.values().for_each(|item| collect_texts(item, texts)),
        Value::Bool(_) | Value::Number(_) | Value::Null => {}
    }
}

impl PersonalData {
    /// Erases a person, and searches for the values that could be read before.
    pub fn erase_and_verify(
        &self,
        person: Uuid,
    ) -> BoxFuture<'_, Result<(ErasureReport, Verification), StoreError>> {
        Box::pin(self.erase_and_search(person))
    }

    async fn erase_and_search(
        &self,
        person: Uuid,
    ) -> Result<(ErasureReport, Verification), StoreError> {
        let before = self.find_in_events(person, true).await?;
        let mut texts = Vec::new();
        for value in before.events.iter().filter_map(|one| one.value.as_ref()) {
            collect_texts(value, &mut texts);
        }
        let report = self.erase_in_background(person).await?;
        let mut verification = self.verify(person, &texts).await?;
        verification.is_complete &= before.is_complete;
        Ok((report, verification))
    }

    /// Reports whether personal data of a person can be read, and where these texts are stored in plain.
    pub fn verify<'a>(
        &'a self,
        person: Uuid,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Verification, StoreError>> {
        Box::pin(self.search_person(person, texts))
    }

    async fn search_person(
        &self,
        person: Uuid,
        texts: &[String],
    ) -> Result<Verification, StoreError> {
        let mut verification = Verification {
            person,
            pending: self.find_open_steps(person).await?,
            is_complete: true,
            ..Verification::default()
        };
        let mut events = self.read_events_about(person, false).await?;
        while let Some(event) = events.try_next().await? {
            verification.count(&event);
        }
        let count = verification.sealed.saturating_add(verification.plain);
        verification.is_erased = count == 0 && verification.pending.is_empty();
        verification.is_complete =
            verification.plain_events.len() == verification.plain_event_count;
        let is_long = |text: &&String| text.chars().count() >= MIN_LENGTH;
        let long: Vec<_> = texts.iter().filter(is_long).map(String::as_str).collect();
        if long.len() < texts.len() {
            let short = "values of fewer than three characters".to_owned();
            verification.unsearched.push(short);
        }
        if !long.is_empty() {
            self.search(&long, &mut verification).await?;
        }
        Ok(verification)
    }

    /// Searches all that the framework writes for plain texts. Case makes no difference.
    async fn search(
        &self,
        texts: &[&str],
        verification: &mut Verification,
    ) -> Result<(), StoreError> {
        let lower = texts.iter().map(|text| text.to_lowercase());
        let json = lower.clone().map(|text| {
            let quoted = Value::from(text).to_string();
            quoted.trim_matches('"').to_owned()
        });
        let forms: Vec<_> = lower.chain(json).collect();
        verification.searched.push("events".to_owned());
        let mut more_events: usize = 0;
        let mut events = self
            .store
            .sealed()
            .read(Subject::root(), ReadOptions::recursive());
        while let Some(event) = events.try_next().await? {
            let id = event.id;
            // A ciphertext contains any three letters by chance.
            let event = redact(event, Some("null"))?;
            let plain = format!("{} {}", event.subject, event.data).to_lowercase();
            if !forms.iter().any(|form| plain.contains(form)) {
                continue;
            }
            if verification.found.len() < MAX_PLACES {
                verification.found.push(format!("event {id}"));
            } else {
                more_events = more_events.saturating_add(1);
            }
        }
        if more_events > 0 {
            verification
                .found
                .push(format!("more events: {more_events}"));
            verification.is_complete = false;
        }
        let places = match &self.tables {
            Some(tables) => tables.search(texts).await,
            None => Vec::new(),
        };
        for (place, is_found) in places {
            match is_found {
                Ok(is_found) => {
                    verification.found.extend(is_found.then(|| place.clone()));
                    verification.searched.push(place);
                }
                Err(reason) => {
                    verification.is_complete = false;
                    verification.unsearched.push(format!("{place}: {reason}"));
                }
            }
        }
        Ok(())
    }
}

impl Verification {
    /// Counts what an event holds of the person.
    fn count(&mut self, EventAboutPerson { event, records }: &EventAboutPerson) {
        let count = |form: StoredForm| records.iter().filter(|one| one.state == form).count();
        let add = |sum: &mut usize, count| *sum = sum.saturating_add(count);
        add(&mut self.sealed, count(StoredForm::Sealed));
        add(&mut self.erased, count(StoredForm::Erased));
        add(&mut self.plain, count(StoredForm::Plain));
        add(
            &mut self.linked_event_count,
            usize::from(records.is_empty()),
        );
        if count(StoredForm::Plain) > 0 {
            add(&mut self.plain_event_count, 1);
            if self.plain_events.len() < MAX_PLACES {
                self.plain_events.push(event.id.to_string());
            }
        }
    }
}
