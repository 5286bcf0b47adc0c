//! Compares the tables that follow from the events with the events, a page at a time.

use std::collections::HashMap;

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    event_catalogue,
    event_insertion::ancestors_below_root,
    event_selection::{self, StepLimits},
    log_head,
    read_pool::ReadStep,
    row::number,
};
use es_event::{RecordedEvent, Subject};
use es_store::{LogDamage, options::IdRange, scan::Scan};

/// The most events and bytes of one page.
const PAGE: StepLimits = StepLimits {
    events: 1_000,
    bytes: 8 << 20,
};

const UNLISTED_BELOW: &str = "SELECT wanted.key, wanted.id FROM UNNEST($1::text[], $2::bigint[]) \
     AS wanted (key, id) WHERE NOT EXISTS (SELECT 1 FROM es_subtrees s \
     WHERE s.ancestor = wanted.key AND s.id = wanted.id)";
const UNLISTED_SUBJECTS: &str = "SELECT wanted.key, wanted.id FROM UNNEST($1::text[], $2::bigint[]) \
     AS wanted (key, id) WHERE NOT EXISTS (SELECT 1 FROM es_subjects s \
     WHERE s.subject = wanted.key AND s.last >= wanted.id)";
const UNLISTED_TYPES: &str = "SELECT wanted.key, wanted.id FROM UNNEST($1::text[], $2::bigint[]) \
     AS wanted (key, id) WHERE NOT EXISTS (SELECT 1 FROM es_event_types t \
     WHERE t.type = wanted.key AND t.first_event <= wanted.id)";

/// A row is wrong if no event is the one that it names. The last column is false for such a row.
const SUBJECT_PAGE: &str = "SELECT s.subject, s.last, EXISTS (SELECT 1 FROM es_events e \
     WHERE e.id = s.last AND e.subject = s.subject) FROM es_subjects s \
     WHERE s.subject > $1 AND $2::bigint IS NOT NULL ORDER BY s.subject LIMIT 1000";
const SUBTREE_PAGE: &str = "SELECT s.ancestor, s.id, EXISTS (SELECT 1 FROM es_events e WHERE e.id = s.id \
     AND starts_with(e.subject, s.ancestor || '/')) FROM es_subtrees s \
     WHERE (s.ancestor, s.id) > ($1, $2) ORDER BY s.ancestor, s.id LIMIT 1000";
const TYPE_PAGE: &str = "SELECT t.type, COALESCE(t.first_event, -1), t.first_event IS NULL OR \
     EXISTS (SELECT 1 FROM es_events e WHERE e.id = t.first_event AND e.type = t.type) \
     FROM es_event_types t WHERE t.type > $1 AND $2::bigint IS NOT NULL \
     ORDER BY t.type LIMIT 1000";

/// An event that no event store wrote: the head does not know it.
const UNKNOWN_EVENT: &str = "(SELECT e.id FROM es_events e WHERE e.id < 0 LIMIT 1) UNION ALL \
     (SELECT e.id FROM es_events e WHERE e.id > (SELECT COALESCE(last, -1) FROM es_head WHERE id = 1) \
     LIMIT 1)";

/// A table, and the place from which its comparison continues.
#[derive(Debug, Clone)]
pub(super) enum TablePosition {
    /// The events from this one, each with the rows that follow from it.
    Events(u64),
    /// The rows after this one are next: each is compared with its event.
    Subjects(String, i64),
    Subtrees(String, i64),
    Types(String, i64),
    Schemas,
}

/// One page of the comparison.
#[derive(Debug)]
pub(super) struct TableCheck(pub(super) TablePosition);

/// The result of one page.
#[derive(Debug, Default)]
pub(super) struct CheckedPage {
    pub(super) damage: Vec<LogDamage>,
    /// The number of events or rows of the page.
    pub(super) entries: u64,
    pub(super) next: Option<TablePosition>,
}

#[async_trait]
impl ReadStep for TableCheck {
    type Output = CheckedPage;

    async fn run(&self, connection: &mut PgConnection) -> Result<CheckedPage, DatabaseError> {
        match &self.0 {
            TablePosition::Events(first) => check_events(connection, *first).await,
            TablePosition::Subjects(after, id) => {
                let rows = read_rows(connection, SUBJECT_PAGE, after, *id).await?;
                let next = TablePosition::Subtrees(String::new(), -1);
                Ok(check_rows(
                    "es_subjects",
                    rows,
                    TablePosition::Subjects,
                    next,
                ))
            }
            TablePosition::Subtrees(after, id) => {
                let rows = read_rows(connection, SUBTREE_PAGE, after, *id).await?;
                let next = TablePosition::Types(String::new(), -1);
                Ok(check_rows(
                    "es_subtrees",
                    rows,
                    TablePosition::Subtrees,
                    next,
                ))
            }
            TablePosition::Types(after, id) => {
                let rows = read_rows(connection, TYPE_PAGE, after, *id).await?;
                let next = TablePosition::Schemas;
                Ok(check_rows(
                    "es_event_types",
                    rows,
                    TablePosition::Types,
                    next,
                ))
            }
            TablePosition::Schemas => {
                event_catalogue::load_catalogue(connection).await?;
                Ok(CheckedPage::default())
            }
        }
    }
}

/// Checks the rows that follow from the next events.
async fn check_events(
    connection: &mut PgConnection,
    first: u64,
) -> Result<CheckedPage, DatabaseError> {
    let end = log_head::read_last(connection).await?;
    let Some(last) = end.map(|end| end.id.get()).filter(|last| first <= *last) else {
        let unknown: Option<i64> = sqlx::query_scalar(UNKNOWN_EVENT)
            .fetch_optional(connection)
            .await?;
        if let Some(id) = unknown {
            let flaw = "comes after the end of the log, so no event store wrote it";
            return Err(DatabaseError::flawed_event(id, flaw));
        }
        return Ok(CheckedPage {
            next: Some(TablePosition::Subjects(String::new(), -1)),
            ..CheckedPage::default()
        });
    };
    let events = u64::try_from(PAGE.events).unwrap_or(u64::MAX);
    let range = IdRange {
        first,
        last: last.min(first.saturating_add(events).saturating_sub(1)),
    };
    let scan = Scan::over_range(Subject::root(), true, range);
    let (chunk, _) = event_selection::read_chunk(connection, &scan, PAGE).await?;
    if !scan.is_gapless(&chunk) {
        return Err(event_selection::missing_event(&scan, &chunk));
    }
    let rest = chunk.rest.map(|rest| rest.first);
    let unlisted = UnlistedRows::find(connection, &chunk.events).await?;
    Ok(CheckedPage {
        damage: unlisted.damage(),
        entries: chunk.events.len() as u64,
        next: Some(TablePosition::Events(
            rest.unwrap_or(range.last.saturating_add(1)),
        )),
    })
}

/// A key, the event that a row names for it, and whether there is this event.
type DerivedRow = (String, i64, bool);

async fn read_rows(
    connection: &mut PgConnection,
    statement: &'static str,
    after: &str,
    id: i64,
) -> Result<Vec<DerivedRow>, DatabaseError> {
    let query = sqlx::query_as(statement).bind(after).bind(id);
    Ok(query.fetch_all(connection).await?)
}

/// Checks that the rows of a table name events. Continues behind the last row, or with the next table.
fn check_rows(
    table: &str,
    rows: Vec<DerivedRow>,
    position: fn(String, i64) -> TablePosition,
    next: TablePosition,
) -> CheckedPage {
    let wrong = rows.iter().filter(|(_, _, fits)| !fits);
    let damage = wrong.map(|(key, id, _)| {
        let flaw = format!("it names event {id} for {key}, which is another one or missing");
        LogDamage::of_table(table, flaw)
    });
    CheckedPage {
        damage: damage.collect(),
        entries: rows.len() as u64,
        next: Some(match rows.last() {
            Some((key, id, _)) => position(key.clone(), *id),
            None => next,
        }),
    }
}

/// The rows that follow from some events and are missing.
struct UnlistedRows {
    below: (Vec<String>, Vec<i64>),
    subjects: (Vec<String>, Vec<i64>),
    types: (Vec<String>, Vec<i64>),
}

impl UnlistedRows {
    async fn find(
        connection: &mut PgConnection,
        events: &[RecordedEvent],
    ) -> Result<Self, DatabaseError> {
        let mut below = (Vec::new(), Vec::new());
        let mut subjects = HashMap::new();
        let mut types = HashMap::new();
        for event in events {
            let (id, subject) = (number(event.id.get()), event.subject.as_str());
            for ancestor in ancestors_below_root(subject) {
                below.0.push(ancestor);
                below.1.push(id);
            }
            subjects.insert(subject, id);
            types.entry(event.event_type.as_str()).or_insert(id);
        }
        let subjects: (Vec<&str>, Vec<i64>) = subjects.into_iter().unzip();
        let types: (Vec<&str>, Vec<i64>) = types.into_iter().unzip();
        let below = read_unlisted(connection, UNLISTED_BELOW, below).await?;
        let subjects = read_unlisted(connection, UNLISTED_SUBJECTS, subjects).await?;
        let types = read_unlisted(connection, UNLISTED_TYPES, types).await?;
        Ok(Self {
            below,
            subjects,
            types,
        })
    }

    fn damage(&self) -> Vec<LogDamage> {
        let first = |table: &str, keys: &[String], ids: &[i64]| {
            let (key, id) = (keys.first()?, ids.first()?);
            let more = match keys.len() {
                1 => String::new(),
                count => format!(", and {} more rows", count.saturating_sub(1)),
            };
            let flaw = format!("it lacks event {id} for {key}{more}");
            Some(LogDamage::of_table(table, flaw))
        };
        [
            first("es_subtrees", &self.below.0, &self.below.1),
            first("es_subjects", &self.subjects.0, &self.subjects.1),
            first("es_event_types", &self.types.0, &self.types.1),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

async fn read_unlisted(
    connection: &mut PgConnection,
    statement: &'static str,
    (keys, ids): (Vec<&str>, Vec<i64>),
) -> Result<(Vec<String>, Vec<i64>), DatabaseError> {
    let unlisted: Vec<(String, i64)> = sqlx::query_as(statement)
        .bind(keys)
        .bind(ids)
        .fetch_all(connection)
        .await?;
    Ok(unlisted.into_iter().unzip())
}
