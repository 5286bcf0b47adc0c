//! Reads what a batch needs to know of the stored events, in one statement: the latest events of its subjects, subtrees
//! and types, and the end of the log. The head of the log must be locked.

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
    seen_event::{SeenEvent, check_end},
};
use es_event::{EventId, Hash, RecordedEvent, Subject};
use es_store::{
    PreconditionScope,
    event_row::RowLinks,
    write::{QueuedAppend, StoredEventLookup},
};

/// Each key has the latest event that its list names, and that which the index of the events has. The row of kind 3
/// is the event that this instance has seen; those of kind 4 are the last event of the head and the one after it.
const READ: &str = "SELECT 0, wanted.key, \
     (SELECT s.last FROM es_subjects s WHERE s.subject = wanted.key), \
     (SELECT e.id FROM es_events e WHERE e.subject = wanted.key ORDER BY e.id DESC LIMIT 1), NULL::bytea \
     FROM UNNEST($1::text[]) AS wanted (key) \
     UNION ALL SELECT 1, wanted.key, \
     (SELECT t.last_event FROM es_event_types t WHERE t.type = wanted.key), \
     (SELECT e.id FROM es_events e WHERE e.type = wanted.key ORDER BY e.id DESC LIMIT 1), NULL \
     FROM UNNEST($2::text[]) AS wanted (key) \
     UNION ALL SELECT 2, wanted.key, \
     (SELECT s.last FROM es_subjects s WHERE s.subject >= wanted.key || '/' AND s.subject < wanted.key || '0' \
     ORDER BY s.subject LIMIT 1), \
     (SELECT s.id FROM es_subtrees s WHERE s.ancestor = wanted.key ORDER BY s.id DESC LIMIT 1), NULL \
     FROM UNNEST($3::text[]) AS wanted (key) \
     UNION ALL SELECT 3, '', NULL, e.id, e.hash FROM es_events e WHERE e.id = $4 \
     UNION ALL (SELECT 4, '', NULL, e.id, e.hash FROM es_events e WHERE e.id >= $5 ORDER BY e.id LIMIT 2)";

const READ_LISTED: &str = "SELECT 0, s.subject, s.last FROM es_subjects s WHERE s.subject = ANY($1::text[]) \
     UNION ALL SELECT 1, t.type, t.last_event FROM es_event_types t \
     WHERE t.type = ANY($2::text[]) AND t.last_event IS NOT NULL";

/// A kind, a key, its latest event by its list and by the index of events, and the hash of an event.
type LookupRow = (i32, String, Option<i64>, Option<i64>, Option<Vec<u8>>);

/// The keys whose latest events are read.
#[derive(Debug, Default)]
pub(super) struct LookupKeys<'a> {
    subjects: HashSet<&'a str>,
    types: HashSet<&'a str>,
    subtrees: HashSet<&'a str>,
}

impl<'a> LookupKeys<'a> {
    /// Returns the keys of the events and preconditions of a batch.
    pub(super) fn of_appends(appends: &'a [QueuedAppend]) -> Self {
        let mut keys = Self::default();
        for append in appends {
            for candidate in &append.candidates {
                keys.subjects.insert(candidate.subject.as_str());
                keys.types.insert(candidate.event_type.as_str());
            }
            for precondition in &append.preconditions {
                match precondition.scope() {
                    PreconditionScope::Subject(subject) => keys.subjects.insert(subject.as_str()),
                    PreconditionScope::Subtree(subject) => {
                        keys.subtrees.insert(subtree_key(subject))
                    }
                    // The head knows the latest event of all.
                    PreconditionScope::Store => false,
                };
            }
        }
        keys.subtrees.remove("");
        // The own events of a subtree's root are in no row of the table of subtrees.
        keys.subjects.extend(&keys.subtrees);
        keys
    }

    /// Returns the keys of events that another store recorded.
    pub(super) fn of_events(events: &'a [RecordedEvent]) -> Self {
        Self {
            subjects: events.iter().map(|event| event.subject.as_str()).collect(),
            types: events
                .iter()
                .map(|event| event.event_type.as_str())
                .collect(),
            subtrees: HashSet::new(),
        }
    }
}

/// The latest stored event of each subject, subtree and type of one batch.
#[derive(Debug, Default)]
pub(super) struct StoredLatestEvents {
    subjects: HashMap<String, EventId>,
    types: HashMap<String, EventId>,
    subtrees: HashMap<String, EventId>,
    last: Option<EventId>,
}

impl StoredLatestEvents {
    /// Reads the latest events, and checks that the log ends where its head says and has the event that this
    /// instance has seen.
    pub(super) async fn read_latest(
        connection: &mut PgConnection,
        keys: LookupKeys<'_>,
        head: &LogHead,
        seen: Option<SeenEvent>,
    ) -> Result<Self, DatabaseError> {
        let [subjects, types, subtrees] = [keys.subjects, keys.types, keys.subtrees]
            .map(|keys| keys.into_iter().collect::<Vec<&str>>());
        let rows: Vec<LookupRow> = sqlx::query_as(READ)
            .bind(subjects)
            .bind(types)
            .bind(subtrees)
            .bind(seen.map(|seen| number(seen.id.get())))
            .bind(head.last.map_or(0, |last| number(last.get())))
            .fetch_all(connection)
            .await?;
        let mut latest = Self {
            last: head.last,
            ..Self::default()
        };
        let (mut seen_hash, mut stored_end) = (None, Vec::new());
        for (kind, key, listed, found, hash) in rows {
            let found = found.map(row::to_event_id).transpose()?;
            let listed = listed.map(row::to_event_id).transpose()?;
            match kind {
                0 | 1 => check_latest(&key, listed, found)?,
                2 => check_subtree(&key, listed, found)?,
                _ => {}
            }
            let map = match kind {
                0 => &mut latest.subjects,
                1 => &mut latest.types,
                2 => &mut latest.subtrees,
                3 => {
                    seen_hash = hash.as_deref().and_then(row::hash);
                    continue;
                }
                _ => {
                    stored_end.extend(found.zip(hash.as_deref().map(row::hash)));
                    continue;
                }
            };
            map.extend(found.map(|id| (key, id)));
        }
        check_stored_end(head, &stored_end)?;
        check_end(seen, head.last, seen_hash)?;
        Ok(latest)
    }

    /// Reads the latest events that the lists of subjects and types name.
    pub(super) async fn read_listed(
        connection: &mut PgConnection,
        keys: LookupKeys<'_>,
    ) -> Result<Self, DatabaseError> {
        let [subjects, types] =
            [keys.subjects, keys.types].map(|keys| keys.into_iter().collect::<Vec<&str>>());
        let rows: Vec<(i32, String, i64)> = sqlx::query_as(READ_LISTED)
            .bind(subjects)
            .bind(types)
            .fetch_all(connection)
            .await?;
        let mut latest = Self::default();
        for (kind, key, id) in rows {
            let map = if kind == 0 {
                &mut latest.subjects
            } else {
                &mut latest.types
            };
            map.insert(key, row::to_event_id(id)?);
        }
        Ok(latest)
    }

    /// Returns the links of new events, in their order.
    pub(super) fn link<'e>(
        &self,
        events: impl Iterator<Item = &'e RecordedEvent>,
    ) -> Vec<RowLinks> {
        let (mut subjects, mut types) = (HashMap::new(), HashMap::new());
        let mut links = Vec::new();
        for event in events {
            let (subject, name) = (event.subject.as_str(), event.event_type.as_str());
            let in_batch = subjects.insert(subject, event.id);
            let of_type = types.insert(name, event.id);
            links.push(RowLinks {
                in_subject: in_batch.or_else(|| self.subjects.get(subject).copied()),
                of_type: of_type.or_else(|| self.types.get(name).copied()),
            });
        }
        links
    }
}

/// Checks that the list of subjects or types names the latest event that is stored.
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
            let table = if key.starts_with('/') {
                "es_subjects"
            } else {
                "es_event_types"
            };
            let flaw = format!("it lacks the latest event of {key}");
            Err(DatabaseError::damaged_table(table, flaw))
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

/// Checks that the last stored event is that of the head.
fn check_stored_end(
    head: &LogHead,
    stored: &[(EventId, Option<Hash>)],
) -> Result<(), DatabaseError> {
    let mut stored = stored.iter();
    if let Some(last) = head.last {
        let number = number(last.get());
        match stored.next() {
            Some((id, Some(hash))) if *id == last && *hash == head.chain.predecessor => {}
            Some((id, _)) if *id == last => {
                let flaw = "is not the one that ends the log: its hash differs";
                return Err(DatabaseError::flawed_event(number, flaw));
            }
            _ => return Err(DatabaseError::missing_last(last)),
        }
    }
    match stored.next() {
        None => Ok(()),
        Some((id, _)) => {
            let flaw = "comes after the end of the log, so no event store wrote it";
            Err(DatabaseError::flawed_event(number(id.get()), flaw))
        }
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
