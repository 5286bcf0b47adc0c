//! Lists subjects in order. Each step jumps from one subject to the next in the index, so it does not
//! read every event.

use std::collections::BTreeSet;

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqlx::PgConnection;

use super::{
    database_error::DatabaseError, event_selection::key, log_reader::LogReader,
    read_pool::ReadStatements, row,
};
use es_event::Subject;
use es_store::{StoreError, SubjectStream};

/// Returns the statement that lists the different values of a column in a range.
macro_rules! distinct {
    ($column:literal, $table:literal) => {
        concat!(
            "WITH RECURSIVE found (subject) AS ((SELECT ",
            $column,
            " FROM ",
            $table,
            " WHERE ",
            $column,
            " >= $1 AND ",
            $column,
            " < $2 ORDER BY ",
            $column,
            " LIMIT 1) \
             UNION ALL SELECT (SELECT ",
            $column,
            " FROM ",
            $table,
            " WHERE ",
            $column,
            " > found.subject AND ",
            $column,
            " < $2 ORDER BY ",
            $column,
            " LIMIT 1) FROM found WHERE found.subject IS NOT NULL) \
             SELECT subject FROM found WHERE subject IS NOT NULL LIMIT $3"
        )
    };
}

const SUBJECTS: &str = distinct!("subject", "es_events");
/// Parents are subjects, too, although they may have no events.
const PARENTS: &str = distinct!("ancestor", "es_subtrees");
const HAS_SUBJECT: &str = "SELECT EXISTS (SELECT 1 FROM es_events WHERE subject = $1) \
     OR EXISTS (SELECT 1 FROM es_subtrees WHERE ancestor = $1)";
const HAS_EVENTS: &str = "SELECT last IS NOT NULL FROM es_head WHERE id = 1";

impl LogReader {
    /// Lists a subject and all subjects below it, sorted.
    pub(super) fn subjects(self, base: Subject) -> SubjectStream {
        let most = self.state.limits.subjects;
        let parts = stream::try_unfold(Some(None), move |after| {
            let (reader, base) = (self.clone(), base.clone());
            async move {
                let Some(after) = after else {
                    return Ok::<_, StoreError>(None);
                };
                let page = SubjectPage { base, after, most };
                let subjects = reader.pool.read(&reader.state, &page).await?;
                let last = subjects.last().filter(|_| subjects.len() >= most).cloned();
                Ok(Some((stream::iter(subjects).map(Ok), last.map(Some))))
            }
        });
        parts.try_flatten().boxed()
    }
}

/// Lists the next subjects at and below a base.
struct SubjectPage {
    base: Subject,
    /// The last subject of the page before.
    after: Option<Subject>,
    most: usize,
}

#[async_trait]
impl ReadStatements for SubjectPage {
    type Output = Vec<Subject>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Vec<Subject>, DatabaseError> {
        let base = key(&self.base);
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
        for statement in [SUBJECTS, PARENTS] {
            let subjects: Vec<String> = sqlx::query_scalar(statement)
                .bind(&from)
                .bind(&to)
                .bind(row::number(self.most))
                .fetch_all(&mut *connection)
                .await?;
            found.extend(subjects);
        }
        let subjects = found.into_iter().take(self.most);
        let parsed = subjects.map(|subject| subject.parse());
        let broken = |error| DatabaseError::Broken(format!("a subject is broken: {error}"));
        parsed.collect::<Result<_, _>>().map_err(broken)
    }
}

async fn has_base(connection: &mut PgConnection, base: &str) -> Result<bool, DatabaseError> {
    let query = match base {
        "" => sqlx::query_scalar(HAS_EVENTS),
        base => sqlx::query_scalar(HAS_SUBJECT).bind(base),
    };
    Ok(query.fetch_one(connection).await?)
}
