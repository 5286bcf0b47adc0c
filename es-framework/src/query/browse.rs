//! Browsing the rows of a read model, oldest first, a page at a time.

use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::{AssertSqlSafe, Row as _, sqlite::SqliteRow};

use crate::{
    event::{EventId, Subject},
    projection::{Database, ReadModelDescriptor, quoted, row_as_json},
};

/// How many rows a page has when the caller does not say.
const DEFAULT_LIMIT: u32 = 100;
/// How many rows a page has at the most.
const MAX_LIMIT: u32 = 1_000;

/// Which rows to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Browse {
    limit: u32,
    after: Option<EventId>,
}

/// Some rows and where to go on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The rows, each a JSON object.
    pub items: Vec<Box<RawValue>>,
    /// What to send as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A query that was not answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// A parameter is not what it has to be.
    #[error("{message}")]
    Invalid {
        /// The parameter's name.
        parameter: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The database failed.
    #[error("the query was not answered: {0}")]
    Database(#[from] sqlx::Error),
    /// A row is not what was written.
    #[error("a row cannot be read: {0}")]
    Row(#[from] serde_json::Error),
}

impl Browse {
    /// Reads the parameters `limit` and `cursor`.
    ///
    /// # Errors
    /// A parameter is unknown, given twice, or malformed.
    pub fn parse<'a>(
        parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, QueryError> {
        let (mut limit, mut after) = (None, None);
        for (name, value) in parameters {
            let invalid = |message: String| QueryError::Invalid {
                parameter: name.chars().take(40).collect(),
                message,
            };
            let twice = match name {
                "limit" => limit
                    .replace(parse_limit(value).map_err(invalid)?)
                    .is_some(),
                "cursor" => after
                    .replace(parse_cursor(value).map_err(invalid)?)
                    .is_some(),
                _ => return Err(invalid("is unknown: there are limit and cursor".into())),
            };
            if twice {
                return Err(invalid("is given twice".into()));
            }
        }
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        Ok(Self { limit, after })
    }

    /// The page that was asked for.
    ///
    /// # Errors
    /// The database failed.
    pub async fn run(
        self,
        database: &Database,
        model: &ReadModelDescriptor,
    ) -> Result<Page, QueryError> {
        let after = self.after.and_then(|id| i64::try_from(id.get()).ok());
        let statement = format!(
            "SELECT es_position, {} FROM {} WHERE es_position > ?1 ORDER BY es_position LIMIT ?2",
            row_as_json(model),
            quoted(model.name),
        );
        let rows = sqlx::query(AssertSqlSafe(statement))
            .bind(after.unwrap_or(-1))
            // One more tells whether there is a next page.
            .bind(i64::from(self.limit.saturating_add(1)))
            .fetch_all(database.pool())
            .await?;
        self.page(&rows)
    }

    fn page(self, rows: &[SqliteRow]) -> Result<Page, QueryError> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let shown = rows.get(..limit).unwrap_or(rows);
        let items = shown
            .iter()
            .map(object)
            .collect::<Result<_, QueryError>>()?;
        let next_cursor = match shown.last() {
            Some(last) if rows.len() > shown.len() => Some(last.try_get::<i64, _>(0)?.to_string()),
            _ => None,
        };
        Ok(Page { items, next_cursor })
    }
}

/// The first row of a subject.
///
/// # Errors
/// The database failed.
pub async fn find(
    database: &Database,
    model: &ReadModelDescriptor,
    subject: &Subject,
) -> Result<Option<Box<RawValue>>, QueryError> {
    let statement = format!(
        "SELECT es_position, {} FROM {} WHERE es_subject = ?1 ORDER BY es_position LIMIT 1",
        row_as_json(model),
        quoted(model.name),
    );
    let row = sqlx::query(AssertSqlSafe(statement))
        .bind(subject.as_str())
        .fetch_optional(database.pool())
        .await?;
    row.as_ref().map(object).transpose()
}

fn object(row: &SqliteRow) -> Result<Box<RawValue>, QueryError> {
    Ok(RawValue::from_string(row.try_get(1)?)?)
}

fn parse_limit(value: &str) -> Result<u32, String> {
    let limit = value
        .parse()
        .ok()
        .filter(|limit| (1..=MAX_LIMIT).contains(limit));
    limit.ok_or_else(|| format!("must be a whole number from 1 to {MAX_LIMIT}"))
}

fn parse_cursor(value: &str) -> Result<EventId, String> {
    value
        .parse()
        .map_err(|_| "must be the nextCursor of the page before".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_limit_of_its_own() {
        let limit = |parameters| Browse::parse(parameters).map(|browse| browse.limit).ok();
        assert_eq!(limit(vec![]), Some(DEFAULT_LIMIT));
        assert_eq!(limit(vec![("limit", "1000")]), Some(1_000));
        for refused in ["0", "1001", "-1", "ten", ""] {
            assert_eq!(limit(vec![("limit", refused)]), None, "{refused}");
        }
    }

    #[test]
    fn a_parameter_that_nobody_knows_is_refused() {
        assert!(Browse::parse([("titel", "ring")]).is_err());
        assert!(Browse::parse([("cursor", "abc")]).is_err());
        assert!(Browse::parse([("limit", "1"), ("limit", "2")]).is_err());
    }
}
