//! The latest events of all subjects that the preconditions of a batch name, read in two statements.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
};

use sqlx::PgConnection;

use super::{database_error::DatabaseError, event_selection::subtree_key, row};
use es_event::{EventId, Subject};
use es_store::{
    PreconditionScope,
    write::{QueuedAppend, StoredEventLookup},
};

const OF_SUBJECTS: &str = "SELECT wanted.subject, (SELECT e.id FROM es_events e \
     WHERE e.subject = wanted.subject ORDER BY e.id DESC LIMIT 1) \
     FROM UNNEST($1::text[]) AS wanted (subject)";
const OF_SUBTREES: &str = "SELECT wanted.subject, GREATEST( \
     (SELECT e.id FROM es_events e WHERE e.subject = wanted.subject ORDER BY e.id DESC LIMIT 1), \
     (SELECT s.id FROM es_subtrees s WHERE s.ancestor = wanted.subject ORDER BY s.id DESC LIMIT 1)) \
     FROM UNNEST($1::text[]) AS wanted (subject)";

/// The latest stored event of each subject and subtree that the preconditions of one batch name.
#[derive(Debug, Default)]
pub(super) struct StoredLatestEvents {
    subjects: HashMap<String, EventId>,
    subtrees: HashMap<String, EventId>,
    last: Option<EventId>,
}

impl StoredLatestEvents {
    /// Reads the latest event of each subject. The head of the log must be locked, and `last` is the
    /// event that it names.
    pub(super) async fn read_latest(
        connection: &mut PgConnection,
        appends: &[QueuedAppend],
        last: Option<EventId>,
    ) -> Result<Self, DatabaseError> {
        let (mut subjects, mut subtrees) = (HashSet::new(), HashSet::new());
        for precondition in appends.iter().flat_map(|append| &append.preconditions) {
            match precondition.scope() {
                PreconditionScope::Subject(subject) => subjects.insert(subject.as_str()),
                PreconditionScope::Subtree(subject) => subtrees.insert(subtree_key(subject)),
                // The head knows the latest event of all.
                PreconditionScope::Store => false,
            };
        }
        subtrees.remove("");
        Ok(Self {
            subjects: latest(connection, OF_SUBJECTS, subjects).await?,
            subtrees: latest(connection, OF_SUBTREES, subtrees).await?,
            last,
        })
    }
}

async fn latest(
    connection: &mut PgConnection,
    statement: &'static str,
    wanted: HashSet<&str>,
) -> Result<HashMap<String, EventId>, DatabaseError> {
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let wanted: Vec<&str> = wanted.into_iter().collect();
    let found: Vec<(String, Option<i64>)> = sqlx::query_as(statement)
        .bind(wanted)
        .fetch_all(connection)
        .await?;
    let found = found
        .into_iter()
        .filter_map(|(subject, id)| Some((subject, id?)));
    found
        .map(|(subject, id)| Ok((subject, row::to_event_id(id)?)))
        .collect()
}

impl StoredEventLookup for StoredLatestEvents {
    type Error = Infallible;

    fn of_subject(&self, subject: &Subject) -> Result<Option<EventId>, Infallible> {
        Ok(self.subjects.get(subject.as_str()).copied())
    }

    fn of_subtree(&self, subject: &Subject) -> Result<Option<EventId>, Infallible> {
        Ok(match subtree_key(subject) {
            "" => self.last,
            key => self.subtrees.get(key).copied(),
        })
    }
}
