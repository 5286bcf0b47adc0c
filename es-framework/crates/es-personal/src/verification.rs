//! Verifies an erasure: whether values can still be opened, and whether plain values are stored somewhere.

use std::path::PathBuf;

use es_event::Subject;
use es_store::{ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    erasure::PersonalData,
    plain_values::PlainValues,
    search::{EventAboutPerson, StoredForm},
};

/// The most events that a list names.
const MAX_PLACES: usize = 100;

/// The result of a verification.
#[doc(hidden)]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
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
    /// The search for values that must be gone, if the operator gave some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchReport>,
    /// False if a list is cut, or a place could not be searched.
    pub is_complete: bool,
}

/// The result of a search for plain values.
#[doc(hidden)]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchReport {
    /// The places that were searched.
    pub searched: Vec<String>,
    /// The places that contain a value, and the number of further events. Another person may have the same one.
    pub found: Vec<String>,
    /// The places that were not searched, each with the reason.
    pub unsearched: Vec<String>,
    /// The files and folders of this instance that exist. Its process does not search them: to close a file of SQLite would release
    /// the locks of its own connections.
    pub files: Vec<PathBuf>,
}

impl PersonalData {
    /// Reports whether personal data of a person can be read, and where these values are stored.
    pub async fn verify(
        &self,
        person: Uuid,
        values: Option<&PlainValues>,
    ) -> Result<Verification, StoreError> {
        let mut verification = Verification {
            person,
            ..Verification::default()
        };
        let mut events = self.read_events_about(person, false).await?;
        while let Some(event) = events.try_next().await? {
            verification.count(&event);
        }
        let count = verification.sealed.saturating_add(verification.plain);
        verification.pending = self.find_open_steps(person).await?;
        verification.is_erased = count == 0 && verification.pending.is_empty();
        verification.is_complete =
            verification.plain_events.len() == verification.plain_event_count;
        if let Some(values) = values {
            let (search, is_complete) = self.search(values).await?;
            verification.search = Some(search);
            verification.is_complete &= is_complete;
        }
        Ok(verification)
    }

    /// Searches the events and the rows for plain values. Returns whether the report names all places.
    async fn search(&self, values: &PlainValues) -> Result<(SearchReport, bool), StoreError> {
        let mut report = SearchReport {
            files: self
                .files
                .iter()
                .filter(|file| file.exists())
                .cloned()
                .collect(),
            ..SearchReport::default()
        };
        report.searched.push("events".to_owned());
        let mut more_events: usize = 0;
        let options = ReadOptions::recursive();
        let mut events = self.store.sealed().read(Subject::root(), options);
        while let Some(event) = events.try_next().await? {
            let is_in_event = values.is_in(event.data.get().as_bytes())
                || values.is_in(event.subject.as_str().as_bytes());
            if is_in_event && report.found.len() < MAX_PLACES {
                report.found.push(format!("event {}", event.id));
            } else if is_in_event {
                more_events = more_events.saturating_add(1);
            }
        }
        let mut rows = Vec::new();
        if let Some(tables) = &self.tables {
            let names = tables.names().into_iter();
            report.searched.extend(names.map(in_rows));
            for text in values.texts() {
                match tables.find_text(text).await {
                    Ok(found) => rows.extend(found.into_iter().map(in_rows)),
                    Err(reason) => report.unsearched.push(format!("rows: {reason}")),
                }
            }
        }
        rows.sort_unstable();
        rows.dedup();
        report.found.append(&mut rows);
        if more_events > 0 {
            report.found.push(format!("more events: {more_events}"));
        }
        report.unsearched.dedup();
        report.unsearched.extend(values.too_many_text());
        let is_complete = report.unsearched.is_empty() && more_events == 0;
        report.unsearched.extend(values.unsearchable_text());
        Ok((report, is_complete))
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

fn in_rows(name: &str) -> String {
    format!("rows of {name}")
}
