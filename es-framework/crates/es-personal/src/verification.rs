//! Verifies an erasure: whether values can still be opened, and whether plain values are stored somewhere.

use std::path::PathBuf;

use es_event::Subject;
use es_store::{ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use uuid::Uuid;

use crate::{erasure::PersonalData, plain_values::PlainValues, search::StoredForm};

/// The most places that a report names.
const MAX_PLACES: usize = 100;

/// The result of a verification.
#[doc(hidden)]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// The id of the person.
    pub person: Uuid,
    /// True if no value of the person can be read from the events.
    pub is_erased: bool,
    /// The number of values that can be opened.
    pub sealed: usize,
    /// The number of values whose key is destroyed.
    pub erased: usize,
    /// The events with values that were never sealed.
    pub plain_events: Vec<String>,
    /// The search for values that must be gone, if the operator gave some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchReport>,
}

/// The result of a search for plain values.
#[doc(hidden)]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchReport {
    /// The places that were searched.
    pub searched: Vec<String>,
    /// The places that contain a value. Another person may have the same one.
    pub found: Vec<String>,
    /// The places that were not searched, each with the reason.
    pub unsearched: Vec<String>,
    /// The files and folders of this instance. Its process does not search them: to close a file of SQLite would release
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
        let events = self.find_in_events(person, false).await?.events;
        let count = |form: StoredForm| events.iter().filter(|record| record.state == form).count();
        let plain = events.iter().filter(|one| one.state == StoredForm::Plain);
        let mut plain_events: Vec<_> = plain.map(|record| record.event.to_string()).collect();
        plain_events.dedup();
        Ok(Verification {
            person,
            is_erased: count(StoredForm::Sealed) == 0 && plain_events.is_empty(),
            sealed: count(StoredForm::Sealed),
            erased: count(StoredForm::Erased),
            plain_events,
            search: match values {
                Some(values) => Some(self.search(values).await?),
                None => None,
            },
        })
    }

    /// Searches the events and the rows for plain values.
    async fn search(&self, values: &PlainValues) -> Result<SearchReport, StoreError> {
        let mut report = SearchReport {
            files: self.files.to_vec(),
            ..SearchReport::default()
        };
        report.searched.push("events".to_owned());
        let options = ReadOptions::recursive();
        let mut events = self.store.sealed().read(Subject::root(), options);
        while let Some(event) = events.try_next().await? {
            let is_in_event = values.is_in(event.data.get().as_bytes())
                || values.is_in(event.subject.as_str().as_bytes());
            if is_in_event && report.found.len() < MAX_PLACES {
                report.found.push(format!("event {}", event.id));
            }
        }
        if let Some(tables) = &self.tables {
            let names = tables.names().into_iter();
            report.searched.extend(names.map(in_rows));
            for text in values.texts() {
                match tables.find_text(text).await {
                    Ok(found) => report.found.extend(found.into_iter().map(in_rows)),
                    Err(reason) => report.unsearched.push(format!("rows: {reason}")),
                }
            }
        }
        if values.left_out() > 0 {
            let left_out = format!(
                "{} values that are too short or too many",
                values.left_out()
            );
            report.unsearched.push(left_out);
        }
        report.found.sort_unstable();
        report.found.dedup();
        report.unsearched.dedup();
        Ok(report)
    }
}

fn in_rows(name: &str) -> String {
    format!("rows of {name}")
}
