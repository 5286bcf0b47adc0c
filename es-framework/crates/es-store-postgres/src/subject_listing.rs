//! Lists subjects in order. Each step jumps from one subject to the next in the index, so it does not
//! read every event.

use std::collections::BTreeSet;

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqlx::{AssertSqlSafe, PgConnection};

use super::{
    database_error::DatabaseError, log_reader::LogReader, read_pool::ReadStep, row,
    scan_statement::subtree_key,
};
use es_event::Subject;
use es_store::{StoreError, SubjectStream};

/// The columns with subjects. Parents are subjects, too, although they may have no events.
const COLUMNS: [(&str, &str); 2] = [("subject", "es_subjects"), ("ancestor", "es_subtrees")];
/// The least text that may follow a subject. No character of a subject sorts before U+0001.
const NEXT: &str = "found.subject || chr(1)";
/// The least text that may follow a child, or a descendant of a child. The character `0` comes right after
/// the slash. The parameter is the base with a slash at its end.
const NEXT_CHILD: &str = "CASE WHEN strpos(substr(found.subject, length($4) + 1), '/') = 0 \
     THEN found.subject || chr(1) \
     ELSE $4 || split_part(substr(found.subject, length($4) + 1), '/', 1) || '0' END";
const IS_CHILD: &str = "strpos(substr(subject, length($4) + 1), '/') = 0";
const HAS_SUBJECT: &str = "SELECT EXISTS (SELECT 1 FROM es_subjects WHERE subject = $1) \
     OR EXISTS (SELECT 1 FROM es_subtrees WHERE ancestor = $1)";
const HAS_EVENTS: &str = "SELECT last IS NOT NULL FROM es_head WHERE id = 1";

/// Returns the statement that lists the different values of a column in a range.
fn list_values(
    (column, table): (&str, &str),
    next: &str,
    condition: &str,
) -> AssertSqlSafe<String> {
    let first = format!("SELECT {column} FROM {table} WHERE {column} < $2 AND {column} >=");
    AssertSqlSafe(format!(
        "WITH RECURSIVE found (subject) AS (({first} $1 ORDER BY {column} LIMIT 1) \
         UNION ALL SELECT ({first} {next} ORDER BY {column} LIMIT 1) FROM found \
         WHERE found.subject IS NOT NULL) \
         SELECT subject FROM found WHERE subject IS NOT NULL AND {condition} LIMIT $3"
    ))
}

fn parse_subjects(texts: impl Iterator<Item = String>) -> Result<Vec<Subject>, DatabaseError> {
    let subjects = texts.map(|text| Subject::parse_recorded(&text));
    let broken =
        |error| DatabaseError::damaged_table("es_events", format!("a subject is broken: {error}"));
    subjects.collect::<Result<_, _>>().map_err(broken)
}

impl LogReader {
    /// Lists a subject and all subjects below it, sorted.
    pub(super) fn list_subjects(self, base: Subject) -> SubjectStream {
        let most = self.state.limits.subjects;
        let parts = stream::try_unfold(Some(None), move |after| {
            let (reader, base) = (self.clone(), base.clone());
            async move {
                let Some(after) = after else {
                    return Ok::<_, StoreError>(None);
                };
                let page = ReadSubjectPage { base, after, most };
                let subjects = reader.pool.run_step(&reader.state, &page).await?;
                let last = subjects.last().filter(|_| subjects.len() >= most).cloned();
                Ok(Some((stream::iter(subjects).map(Ok), last.map(Some))))
            }
        });
        parts.try_flatten().boxed()
    }

    /// Lists the subjects directly below `base` that come after `after`: at most `limit`, sorted.
    pub(super) async fn child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        let page = ChildPageReadStep { base, after, limit };
        self.pool.run_step(&self.state, &page).await
    }
}

/// Lists the next subjects at and below a base.
struct ReadSubjectPage {
    base: Subject,
    /// The last subject of the page before.
    after: Option<Subject>,
    most: usize,
}

#[async_trait]
impl ReadStep for ReadSubjectPage {
    type Output = Vec<Subject>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Vec<Subject>, DatabaseError> {
        let base = subtree_key(&self.base);
        let mut found = BTreeSet::new();
        let from = match &self.after {
            // No character of a subject sorts before U+0001.
            Some(after) => format!("{after}\u{1}").max(format!("{base}/")),
            None => {
                if has_base(connection, base).await? {
                    found.insert(if base.is_empty() {
                        "/".into()
                    } else {
                        base.into()
                    });
                }
                format!("{base}/")
            }
        };
        // The character after the slash.
        let to = format!("{base}0");
        for column in COLUMNS {
            let subjects: Vec<String> = sqlx::query_scalar(list_values(column, NEXT, "true"))
                .bind(&from)
                .bind(&to)
                .bind(row::number(self.most))
                .fetch_all(&mut *connection)
                .await?;
            found.extend(subjects);
        }
        parse_subjects(found.into_iter().take(self.most))
    }
}

/// Lists the next subjects directly below a base.
struct ChildPageReadStep {
    base: Subject,
    /// The last subject of the page before.
    after: Option<Subject>,
    limit: usize,
}

#[async_trait]
impl ReadStep for ChildPageReadStep {
    type Output = Vec<Subject>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Vec<Subject>, DatabaseError> {
        let base = subtree_key(&self.base);
        let below = format!("{base}/");
        let mut from = below.clone();
        if base.is_empty() {
            // The root is no subject below itself.
            from.push('\u{1}');
        }
        if let Some(after) = &self.after {
            from = from.max(format!("{after}\u{1}"));
        }
        let to = format!("{base}0");
        let mut found = BTreeSet::new();
        for column in COLUMNS {
            let statement = list_values(column, NEXT_CHILD, IS_CHILD);
            let children: Vec<String> = sqlx::query_scalar(statement)
                .bind(&from)
                .bind(&to)
                .bind(row::number(self.limit))
                .bind(&below)
                .fetch_all(&mut *connection)
                .await?;
            found.extend(children);
        }
        parse_subjects(found.into_iter().take(self.limit))
    }
}

async fn has_base(connection: &mut PgConnection, base: &str) -> Result<bool, DatabaseError> {
    let query = match base {
        "" => sqlx::query_scalar(HAS_EVENTS),
        base => sqlx::query_scalar(HAS_SUBJECT).bind(base),
    };
    Ok(query.fetch_one(connection).await?)
}
