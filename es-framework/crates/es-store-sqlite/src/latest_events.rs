//! The lookup of latest events for preconditions, within the transaction of a batch.

use rusqlite::Connection;

use super::index::{PostingIndex, descendants_key, subject_key};
use es_event::{EventId, Subject};
use es_store::write::StoredEventLookup;

/// Looks up latest events by the index.
pub(super) struct IndexedLatestEvents<'a> {
    pub(super) index: &'a PostingIndex,
    pub(super) connection: &'a Connection,
}

impl StoredEventLookup for IndexedLatestEvents<'_> {
    type Error = rusqlite::Error;

    fn of_subject(&self, subject: &Subject) -> rusqlite::Result<Option<EventId>> {
        let key = subject_key(subject.as_str());
        let id = self.index.latest_of_subject(self.connection, &key)?;
        Ok(id.and_then(EventId::new))
    }

    fn of_subtree(&self, subject: &Subject) -> rusqlite::Result<Option<EventId>> {
        let base = subject.as_str().trim_end_matches('/');
        let latest = if base.is_empty() {
            let length = self.index.len();
            length.checked_sub(1)
        } else {
            let key = subject_key(base);
            let of_base = self.index.latest_of_subject(self.connection, &key)?;
            let below = self.index.latest(self.connection, &descendants_key(base))?;
            of_base.max(below)
        };
        Ok(latest.and_then(EventId::new))
    }
}
