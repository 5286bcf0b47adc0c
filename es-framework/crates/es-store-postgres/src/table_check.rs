//! Compares the tables that follow from the events with the events, a page at a time, and completes them.

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
use es_store::{options::IdRange, scan::Scan};

/// The most events and bytes of one page.
const PAGE: StepLimits = StepLimits {
    events: 1_000,
    bytes: 8 << 20,
};

const UNLISTED_BELOW: &str = "SELECT wanted.key, wanted.id FROM UNNEST($1::text[], $2::bigint[]) \
     AS wanted (key, id) WHERE NOT EXISTS (SELECT 1 FROM es_subtrees s \
     WHERE s.ancestor = wanted.key AND s.id = wanted.id)";
const LIST_BELOW: &str = "INSERT INTO es_subtrees (ancestor, id) \
     SELECT * FROM UNNEST($1::text[], $2::bigint[]) ON CONFLICT (ancestor, id) DO NOTHING";
const UNLISTED_SUBJECTS: &str = "SELECT wanted.key, wanted.id FROM UNNEST($1::text[], $2::bigint[]) \
     AS wanted (key, id) WHERE NOT EXISTS (SELECT 1 FROM es_subjects s \
     WHERE s.subject = wanted.key AND s.last >= wanted.id)";
const LIST_SUBJECTS: &str = "INSERT INTO es_subjects (subject, last) \
     SELECT * FROM UNNEST($1::text[], $2::bigint[]) \
     ON CONFLICT (subject) DO UPDATE SET last = GREATEST(es_subjects.last, excluded.last)";
const UNLISTED_TYPES: &str = "SELECT wanted.key, wanted.last \
     FROM UNNEST($1::text[], $2::bigint[], $3::bigint[]) AS wanted (key, first, last) \
     WHERE NOT EXISTS (SELECT 1 FROM es_event_types t WHERE t.type = wanted.key \
     AND t.first_event <= wanted.first AND t.last_event >= wanted.last)";
const LIST_TYPES: &str = "INSERT INTO es_event_types (type, first_event, last_event) \
     SELECT * FROM UNNEST($1::text[], $2::bigint[], $3::bigint[]) ON CONFLICT (type) DO UPDATE SET \
     first_event = LEAST(es_event_types.first_event, excluded.first_event), \
     last_event = GREATEST(es_event_types.last_event, excluded.last_event)";

/// A row is wrong if no event is the one that it names. The last column is false for such a row.
const SUBJECT_PAGE: &str = "SELECT s.subject, s.last, EXISTS (SELECT 1 FROM es_events e \
     WHERE e.id = s.last AND e.subject = s.subject) FROM es_subjects s \
     WHERE s.subject > $1 AND $2::bigint IS NOT NULL ORDER BY s.subject LIMIT 1000";
const SUBTREE_PAGE: &str = "SELECT s.ancestor, s.id, EXISTS (SELECT 1 FROM es_events e WHERE e.id = s.id \
     AND starts_with(e.subject, s.ancestor || '/')) FROM es_subtrees s \
     WHERE (s.ancestor, s.id) > ($1, $2) ORDER BY s.ancestor, s.id LIMIT 1000";
const TYPE_PAGE: &str = "SELECT t.type, COALESCE(t.last_event, -1), \
     CASE WHEN t.first_event IS NULL THEN t.last_event IS NULL ELSE \
     EXISTS (SELECT 1 FROM es_events e WHERE e.id = t.first_event AND e.type = t.type \
     AND e.previous_of_type IS NULL) AND \
     EXISTS (SELECT 1 FROM es_events e WHERE e.id = t.last_event AND e.type = t.type) END \
     FROM es_event_types t WHERE t.type > $1 AND $2::bigint IS NOT NULL \
     ORDER BY t.type LIMIT 1000";

const CORRECT_SUBJECTS: &str = "UPDATE es_subjects s SET last = COALESCE((SELECT e.id FROM es_events e \
     WHERE e.subject = s.subject ORDER BY e.id DESC LIMIT 1), -1) \
     FROM UNNEST($1::text[], $2::bigint[]) AS wrong (key, id) \
     WHERE s.subject = wrong.key AND s.last = wrong.id";
const REMOVE_SUBJECTS: &str = "DELETE FROM es_subjects s \
     USING UNNEST($1::text[], $2::bigint[]) AS wrong (key, id) WHERE s.subject = wrong.key AND s.last = -1";
const REMOVE_BELOW: &str = "DELETE FROM es_subtrees s \
     USING UNNEST($1::text[], $2::bigint[]) AS wrong (key, id) \
     WHERE s.ancestor = wrong.key AND s.id = wrong.id";
const CORRECT_TYPES: &str = "UPDATE es_event_types t SET \
     first_event = (SELECT min(e.id) FROM es_events e WHERE e.type = t.type), \
     last_event = (SELECT max(e.id) FROM es_events e WHERE e.type = t.type) \
     FROM UNNEST($1::text[], $2::bigint[]) AS wrong (key, id) \
     WHERE t.type = wrong.key AND COALESCE(t.last_event, -1) = wrong.id";

/// Events that do not link to the event before them.
const WRONG_LINKS: &str = "SELECT e.id FROM es_events e WHERE e.id BETWEEN $1 AND $2 AND \
     ((e.previous_in_subject IS DISTINCT FROM (SELECT p.id FROM es_events p \
     WHERE p.subject = e.subject AND p.id < e.id ORDER BY p.id DESC LIMIT 1)) OR \
     (e.previous_of_type IS DISTINCT FROM (SELECT p.id FROM es_events p \
     WHERE p.type = e.type AND p.id < e.id ORDER BY p.id DESC LIMIT 1)))";
const LINK: &str = "UPDATE es_events e SET \
     previous_in_subject = (SELECT p.id FROM es_events p \
     WHERE p.subject = e.subject AND p.id < e.id ORDER BY p.id DESC LIMIT 1), \
     previous_of_type = (SELECT p.id FROM es_events p \
     WHERE p.type = e.type AND p.id < e.id ORDER BY p.id DESC LIMIT 1) WHERE e.id = ANY($1)";
/// An event that no event store wrote: the head does not know it.
const UNKNOWN_EVENT: &str = "(SELECT e.id FROM es_events e WHERE e.id < 0 LIMIT 1) UNION ALL \
     (SELECT e.id FROM es_events e WHERE e.id > (SELECT COALESCE(last, -1) FROM es_head WHERE id = 1) \
     LIMIT 1)";
/// False if events are missing. Nothing is corrected then, because that would hide which.
const ARE_EVENTS_COMPLETE: &str = "SELECT (SELECT count(*) FROM es_events) = COALESCE(last, -1) + 1 \
     FROM es_head WHERE id = 1";

/// A table, and the place from which its comparison continues.
#[derive(Debug, Clone)]
pub(super) enum TablePosition {
    /// The events from this one, each with the rows that follow from it.
    Events(u64),
    /// The rows after this one, each with its event.
    Subjects(String, i64),
    Subtrees(String, i64),
    Types(String, i64),
    Schemas,
}

impl TablePosition {
    pub(super) const START: Self = Self::Events(0);
}

/// One page of the comparison.
#[derive(Debug)]
pub(super) struct TableCheck {
    pub(super) position: TablePosition,
    /// True if rows that are missing or wrong are corrected.
    pub(super) corrects: bool,
}

/// The result of one page.
#[derive(Debug)]
pub(super) struct CheckedPage {
    /// The flaws, in sentences.
    pub(super) flaws: Vec<String>,
    /// True if all of them were corrected.
    pub(super) is_corrected: bool,
    /// The number of events or rows of the page.
    pub(super) entries: u64,
    pub(super) next: Option<TablePosition>,
}

#[async_trait]
impl ReadStep for TableCheck {
    type Output = CheckedPage;

    async fn run(&self, connection: &mut PgConnection) -> Result<CheckedPage, DatabaseError> {
        let mut page = CheckedPage {
            flaws: Vec::new(),
            is_corrected: false,
            entries: 0,
            next: None,
        };
        let checked = match &self.position {
            TablePosition::Events(first) => self.check_events(connection, *first, &mut page).await,
            TablePosition::Subjects(..)
            | TablePosition::Subtrees(..)
            | TablePosition::Types(..) => self.check_rows(connection, &mut page).await,
            TablePosition::Schemas => event_catalogue::load_catalogue(connection).await.map(drop),
        };
        match checked {
            Err(DatabaseError::Broken(flaw)) => page.flaws.push(flaw),
            checked => checked?,
        }
        Ok(page)
    }
}

impl TableCheck {
    /// Checks the next events and the rows that follow from them.
    async fn check_events(
        &self,
        connection: &mut PgConnection,
        first: u64,
        page: &mut CheckedPage,
    ) -> Result<(), DatabaseError> {
        page.next = Some(TablePosition::Subjects(String::new(), -1));
        let end = log_head::read_last(connection, None).await?;
        let Some(last) = end.map(|end| end.id.get()).filter(|last| first <= *last) else {
            let unknown: Option<i64> = sqlx::query_scalar(UNKNOWN_EVENT)
                .fetch_optional(connection)
                .await?;
            return match unknown {
                None => Ok(()),
                Some(id) => {
                    let flaw = "comes after the end of the log, so no event store wrote it";
                    Err(DatabaseError::flawed_event(id, flaw))
                }
            };
        };
        let events = u64::try_from(PAGE.events).unwrap_or(u64::MAX);
        let range = IdRange {
            first,
            last: last.min(first.saturating_add(events).saturating_sub(1)),
        };
        // A damaged page does not hide those after it.
        page.next = Some(TablePosition::Events(range.last.saturating_add(1)));
        let scan = Scan::over_range(Subject::root(), true, range);
        let (chunk, _) = event_selection::read_chunk(connection, &scan, PAGE).await?;
        if !scan.is_gapless(&chunk) {
            let flaw = format!("an event between {first} and {} is missing", range.last);
            return Err(DatabaseError::Broken(flaw));
        }
        page.entries = chunk.events.len() as u64;
        if let Some(rest) = chunk.rest {
            page.next = Some(TablePosition::Events(rest.first));
        }
        let wrong_links = read_wrong_links(connection, &chunk.events).await?;
        if let Some(id) = wrong_links.first() {
            page.flaws.push(format!(
                "event {id} does not name the event before it in its subject or type"
            ));
        }
        let unlisted = UnlistedRows::find(connection, &chunk.events).await?;
        page.flaws.extend(unlisted.flaws());
        if self.may_correct(connection, page).await? {
            unlisted.insert(connection).await?;
            sqlx::query(LINK)
                .bind(wrong_links)
                .execute(connection)
                .await?;
            page.is_corrected = true;
        }
        Ok(())
    }

    /// Checks that the rows of a table name events.
    async fn check_rows(
        &self,
        connection: &mut PgConnection,
        page: &mut CheckedPage,
    ) -> Result<(), DatabaseError> {
        let (statement, table, after, id): (_, _, &str, i64) = match &self.position {
            TablePosition::Subjects(after, id) => (SUBJECT_PAGE, "es_subjects", after, *id),
            TablePosition::Subtrees(after, id) => (SUBTREE_PAGE, "es_subtrees", after, *id),
            TablePosition::Types(after, id) => (TYPE_PAGE, "es_event_types", after, *id),
            TablePosition::Events(_) | TablePosition::Schemas => return Ok(()),
        };
        let rows: Vec<(String, i64, bool)> = sqlx::query_as(statement)
            .bind(after)
            .bind(id)
            .fetch_all(&mut *connection)
            .await?;
        page.entries = rows.len() as u64;
        page.next = Some(self.position_after(rows.last()));
        let wrong = rows.into_iter().filter(|(_, _, fits)| !fits);
        let (keys, ids): (Vec<String>, Vec<i64>) = wrong.map(|(key, id, _)| (key, id)).unzip();
        for (key, id) in keys.iter().zip(&ids) {
            page.flaws.push(format!(
                "{table} names event {id} for {key}, which is another one or missing"
            ));
        }
        if !self.may_correct(connection, page).await? {
            return Ok(());
        }
        let corrections: &[&'static str] = match &self.position {
            TablePosition::Subjects(..) => &[CORRECT_SUBJECTS, REMOVE_SUBJECTS],
            TablePosition::Subtrees(..) => &[REMOVE_BELOW],
            TablePosition::Types(..) => &[CORRECT_TYPES],
            TablePosition::Events(_) | TablePosition::Schemas => &[],
        };
        for correction in corrections {
            sqlx::query(*correction)
                .bind(&keys)
                .bind(&ids)
                .execute(&mut *connection)
                .await?;
        }
        page.is_corrected = true;
        Ok(())
    }

    /// Returns the position after the last row of a page: the next table after the last page.
    fn position_after(&self, last: Option<&(String, i64, bool)>) -> TablePosition {
        let last = last.map(|(key, id, _)| (key.clone(), *id));
        match (&self.position, last) {
            (TablePosition::Subjects(..), Some((key, id))) => TablePosition::Subjects(key, id),
            (TablePosition::Subtrees(..), Some((key, id))) => TablePosition::Subtrees(key, id),
            (TablePosition::Types(..), Some((key, id))) => TablePosition::Types(key, id),
            (TablePosition::Subjects(..), None) => TablePosition::Subtrees(String::new(), -1),
            (TablePosition::Subtrees(..), None) => TablePosition::Types(String::new(), -1),
            _ => TablePosition::Schemas,
        }
    }

    async fn may_correct(
        &self,
        connection: &mut PgConnection,
        page: &CheckedPage,
    ) -> Result<bool, DatabaseError> {
        if !self.corrects || page.flaws.is_empty() {
            return Ok(false);
        }
        let are_complete: Option<bool> = sqlx::query_scalar(ARE_EVENTS_COMPLETE)
            .fetch_optional(connection)
            .await?;
        Ok(are_complete == Some(true))
    }
}

/// The rows that follow from some events and are missing.
struct UnlistedRows {
    below: (Vec<String>, Vec<i64>),
    subjects: (Vec<String>, Vec<i64>),
    /// The types with their first and last events.
    types: (Vec<String>, Vec<i64>, Vec<i64>),
}

impl UnlistedRows {
    async fn find(
        connection: &mut PgConnection,
        events: &[RecordedEvent],
    ) -> Result<Self, DatabaseError> {
        let mut below = (Vec::new(), Vec::new());
        let mut subjects = HashMap::new();
        let mut types: HashMap<&str, (i64, i64)> = HashMap::new();
        for event in events {
            let (id, subject) = (number(event.id.get()), event.subject.as_str());
            for ancestor in ancestors_below_root(subject) {
                below.0.push(ancestor);
                below.1.push(id);
            }
            subjects.insert(subject, id);
            types.entry(event.event_type.as_str()).or_insert((id, id)).1 = id;
        }
        let subjects: (Vec<&str>, Vec<i64>) = subjects.into_iter().unzip();
        let (names, ends): (Vec<&str>, Vec<(i64, i64)>) = types.iter().unzip();
        let (first, last): (Vec<i64>, Vec<i64>) = ends.into_iter().unzip();
        let below = read_unlisted(connection, UNLISTED_BELOW, below).await?;
        let subjects = read_unlisted(connection, UNLISTED_SUBJECTS, subjects).await?;
        let unlisted: Vec<(String, i64)> = sqlx::query_as(UNLISTED_TYPES)
            .bind(names)
            .bind(first)
            .bind(last)
            .fetch_all(connection)
            .await?;
        let mut of_types = (Vec::new(), Vec::new(), Vec::new());
        for (name, last) in unlisted {
            let first = types.get(&*name).map_or(last, |ends| ends.0);
            of_types.0.push(name);
            of_types.1.push(first);
            of_types.2.push(last);
        }
        Ok(Self {
            below,
            subjects,
            types: of_types,
        })
    }

    fn flaws(&self) -> impl Iterator<Item = String> {
        let first = |table: &str, keys: &[String], ids: &[i64]| {
            let (key, id) = (keys.first()?, ids.first()?);
            let more = match keys.len() {
                1 => String::new(),
                count => format!(", and {} more rows", count.saturating_sub(1)),
            };
            Some(format!("{table} lacks event {id} for {key}{more}"))
        };
        let below = first("es_subtrees", &self.below.0, &self.below.1);
        let subjects = first("es_subjects", &self.subjects.0, &self.subjects.1);
        let types = first("es_event_types", &self.types.0, &self.types.2);
        below.into_iter().chain(subjects).chain(types)
    }

    async fn insert(self, connection: &mut PgConnection) -> Result<(), DatabaseError> {
        for (statement, (keys, ids)) in [(LIST_BELOW, self.below), (LIST_SUBJECTS, self.subjects)] {
            sqlx::query(statement)
                .bind(keys)
                .bind(ids)
                .execute(&mut *connection)
                .await?;
        }
        let (names, first, last) = self.types;
        sqlx::query(LIST_TYPES)
            .bind(names)
            .bind(first)
            .bind(last)
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// Returns the events that do not link to the events before them.
async fn read_wrong_links(
    connection: &mut PgConnection,
    events: &[RecordedEvent],
) -> Result<Vec<i64>, DatabaseError> {
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Ok(Vec::new());
    };
    let wrong = sqlx::query_scalar(WRONG_LINKS)
        .bind(number(first.id.get()))
        .bind(number(last.id.get()))
        .fetch_all(connection)
        .await?;
    Ok(wrong)
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
