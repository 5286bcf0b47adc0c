//! Reads the latest events of the subjects and subtrees of a batch, in one statement. The head of the log must be locked.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
};

use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    log_head::LogHead,
    row::{self, number},
    scan_statement::subtree_key,
};
use es_event::{EventId, Subject};
use es_store::{
    PreconditionScope,
    write::{QueuedAppend, StoredEventLookup},
};

/// Each subject has the latest event that `es_subjects` names, and that which the index of the events has. A subtree has the
/// latest event of any subject in it, and its own latest event.
const READ: &str = "SELECT 0, wanted.key, \
     (SELECT s.last FROM es_subjects s WHERE s.subject = wanted.key), \
     (SELECT e.id FROM es_events e WHERE e.subject = wanted.key ORDER BY e.id DESC LIMIT 1) \
     FROM UNNEST($1::text[]) AS wanted (key) \
     UNION ALL SELECT 1, wanted.key, \
     (SELECT s.last FROM es_subjects s WHERE s.subject >= wanted.key || '/' AND s.subject < wanted.key || '0' \
     ORDER BY s.subject LIMIT 1), \
     (SELECT s.id FROM es_subtrees s WHERE s.ancestor = wanted.key ORDER BY s.id DESC LIMIT 1) \
     FROM UNNEST($2::text[]) AS wanted (key)";

/// The keys whose latest events are read.
#[derive(Debug, Default)]
struct LookupKeys<'a> {
    subjects: HashSet<&'a str>,
    subtrees: HashSet<&'a str>,
}

impl<'a> LookupKeys<'a> {
    /// Returns the keys of the preconditions of a batch.
    fn of_appends(appends: &'a [QueuedAppend]) -> Self {
        let mut keys = Self::default();
        for precondition in appends.iter().flat_map(|append| &append.preconditions) {
            match precondition.scope() {
                PreconditionScope::Subject(subject) => keys.subjects.insert(subject.as_str()),
                PreconditionScope::Subtree(subject) => keys.subtrees.insert(subtree_key(subject)),
                // The head knows the latest event of all.
                PreconditionScope::Store => false,
            };
        }
        keys.subtrees.remove("");
        // The own events of a subtree's root are in no row of the table of subtrees.
        keys.subjects.extend(&keys.subtrees);
        keys
    }
}

/// The latest stored event of each subject and subtree of one batch.
#[derive(Debug, Default)]
pub(super) struct StoredLatestEvents {
    subjects: HashMap<String, EventId>,
    subtrees: HashMap<String, EventId>,
    last: Option<EventId>,
}

impl StoredLatestEvents {
    /// Reads the latest events that the preconditions of a batch ask for.
    pub(super) async fn read_latest(
        connection: &mut PgConnection,
        appends: &[QueuedAppend],
        head: &LogHead,
    ) -> Result<Self, DatabaseError> {
        let keys = LookupKeys::of_appends(appends);
        let mut latest = Self {
            last: head.last,
            ..Self::default()
        };
        if keys.subjects.is_empty() {
            return Ok(latest);
        }
        let [subjects, subtrees] =
            [keys.subjects, keys.subtrees].map(|keys| keys.into_iter().collect::<Vec<&str>>());
        let rows: Vec<(i32, String, Option<i64>, Option<i64>)> = sqlx::query_as(READ)
            .bind(subjects)
            .bind(subtrees)
            .fetch_all(connection)
            .await?;
        for (kind, key, listed, found) in rows {
            let listed = listed.map(row::to_event_id).transpose()?;
            let found = found.map(row::to_event_id).transpose()?;
            let map = if kind == 0 {
                check_latest(&key, listed, found)?;
                &mut latest.subjects
            } else {
                check_subtree(&key, listed, found)?;
                &mut latest.subtrees
            };
            map.extend(found.map(|id| (key, id)));
        }
        Ok(latest)
    }
}

/// Checks that the list of subjects names the latest event that is stored.
fn check_latest(
    key: &str,
    listed: Option<EventId>,
    found: Option<EventId>,
) -> Result<(), DatabaseError> {
    match (listed, found) {
        _ if listed == found => Ok(()),
        (Some(listed), _) if found.is_none_or(|found| found < listed) => {
            let flaw = format!("is missing, or does not belong to {key} any more");
            Err(DatabaseError::flawed_event(number(listed.get()), flaw))
        }
        _ => {
            let flaw = format!("it lacks the latest event of {key}");
            Err(DatabaseError::damaged_table("es_subjects", flaw))
        }
    }
}

/// Checks that the index of what is below a subject is not empty although a subject below it has an event.
fn check_subtree(
    key: &str,
    listed: Option<EventId>,
    found: Option<EventId>,
) -> Result<(), DatabaseError> {
    match (listed, found) {
        (Some(event), None) => {
            let flaw = format!("it lacks event {event} for {key}");
            Err(DatabaseError::damaged_table("es_subtrees", flaw))
        }
        _ => Ok(()),
    }
}

impl StoredEventLookup for StoredLatestEvents {
    type Error = Infallible;

    fn of_subject(&self, subject: &Subject) -> Result<Option<EventId>, Infallible> {
        Ok(self.subjects.get(subject.as_str()).copied())
    }

    fn of_subtree(&self, subject: &Subject) -> Result<Option<EventId>, Infallible> {
        Ok(match subtree_key(subject) {
            "" => self.last,
            key => {
                let own = self.subjects.get(key).copied();
                own.max(self.subtrees.get(key).copied())
            }
        })
    }
}
