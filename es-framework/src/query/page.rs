//! Rows a page at a time.

use schemars::JsonSchema;
use serde::Serialize;

use super::{QueryError, QueryParameters, cursor::Cursor};

/// How many rows a page has when the caller does not say.
pub(crate) const DEFAULT_LIMIT: u32 = 100;
/// How many rows a page has at the most.
pub(crate) const MAX_LIMIT: u32 = 1_000;

/// Which page is asked for.
///
/// ```
/// use es_framework::query::{Paging, QueryParameters};
///
/// let mut parameters = QueryParameters::new([("limit".into(), "10".into())])?;
/// assert_eq!(parameters.optional::<u32>("limit")?, Some(10)); // a query that is `paged` takes it itself
/// let first = Paging::default();
/// # let _ = first;
/// # Ok::<_, es_framework::query::QueryError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Paging {
    pub(super) limit: u32,
    pub(super) after: Option<Cursor>,
    pub(super) total: bool,
}

impl Default for Paging {
    fn default() -> Self {
        Self {
            limit: DEFAULT_LIMIT,
            after: None,
            total: false,
        }
    }
}

impl Paging {
    /// Takes `limit`, `cursor` and `total`.
    pub(crate) fn parse(parameters: &mut QueryParameters) -> Result<Self, QueryError> {
        let limit = match parameters.text("limit")? {
            None => DEFAULT_LIMIT,
            Some(text) => {
                let limit = text.parse().ok();
                limit
                    .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                    .ok_or_else(|| {
                        let message = format!("must be a whole number from 1 to {MAX_LIMIT}");
                        QueryError::invalid("limit", message)
                    })?
            }
        };
        let after = match parameters.text("cursor")? {
            None => None,
            Some(text) => {
                let message = "must be the nextCursor of the page before";
                let cursor = Cursor::decode(&text);
                Some(cursor.ok_or_else(|| QueryError::invalid("cursor", message))?)
            }
        };
        let total = parameters.optional("total")?.unwrap_or(false);
        Ok(Self {
            limit,
            after,
            total,
        })
    }
}

/// Which rows come first.
///
/// ```
/// use es_framework::prelude::*;
///
/// async fn last<R: ReadModel>(context: &QueryContext<'_>) -> Result<Option<R>, QueryError> {
///     context.rows::<R>().order_by("title", Direction::Descending).first().await
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those with the smallest value.
    Ascending,
    /// Those with the largest value.
    Descending,
}

/// Some rows and where to go on.
///
/// ```
/// use es_framework::prelude::Page;
///
/// let page = Page { items: vec!["The Ring"], next_cursor: None, total: Some(1) };
/// assert_eq!(serde_json::to_string(&page)?, r#"{"items":["The Ring"],"total":1}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
// The example is for developers and not for clients.
#[schemars(rename = "PageOf{R}", description = "Some rows and where to go on.")]
pub struct Page<R> {
    /// The rows.
    pub items: Vec<R>,
    /// What to send as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How many rows there are on all pages; only if `total=true` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paging(pairs: &[(&str, &str)]) -> Result<Paging, QueryError> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let mut parameters = QueryParameters::new(pairs)?;
        let paging = Paging::parse(&mut parameters)?;
        parameters.check_all_taken()?;
        Ok(paging)
    }

    #[test]
    fn a_page_has_a_limit_of_its_own() {
        let limit = |pairs: &[_]| paging(pairs).map(|paging| paging.limit).ok();
        assert_eq!(limit(&[]), Some(DEFAULT_LIMIT));
        assert_eq!(limit(&[("limit", "1000")]), Some(1_000));
        for refused in ["0", "1001", "-1", "ten", ""] {
            assert_eq!(limit(&[("limit", refused)]), None, "{refused}");
        }
    }

    #[test]
    fn a_parameter_that_nobody_knows_is_refused() {
        assert!(paging(&[("titel", "ring")]).is_err());
        assert!(paging(&[("cursor", "abc")]).is_err());
        assert!(paging(&[("total", "maybe")]).is_err());
        assert!(paging(&[("limit", "1"), ("limit", "2")]).is_err());
    }
}
