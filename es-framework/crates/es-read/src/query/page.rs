//! Pages of rows.

use schemars::JsonSchema;
use serde::Serialize;

use super::{QueryError, QueryParameters, SortChoice, cursor::PageCursor, sort_order::SortColumn};
use crate::projection::{Cell, FetchedRows};

/// cursor.
const PAGE_BYTES: usize = 8 << 20;

/// The page that the caller requests: `limit`, `cursor` and `total`.
///
/// ```
/// use es_framework::query::{PageParameters, QueryParameters};
///
/// let mut parameters = QueryParameters::new([("limit".into(), "10".into())])?;
/// assert_eq!(parameters.take_optional::<u32>("limit")?, Some(10)); // `#[query(paged)]` takes it instead
/// let first = PageParameters::default();
/// # let _ = first;
/// # Ok::<_, es_framework::query::QueryError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PageParameters {
    pub(super) limit: u32,
    pub(super) after: Option<PageCursor>,
    pub(super) total: bool,
    /// The sort order that the client requests.
    pub(super) sort: Option<SortColumn>,
    /// The size of the rows at which the page ends, in bytes.
    pub(super) most_bytes: usize,
}

impl Default for PageParameters {
    fn default() -> Self {
        Self {
            limit: Self::DEFAULT_LIMIT,
            after: None,
            total: false,
            sort: None,
            most_bytes: PAGE_BYTES,
        }
    }
}

impl PageParameters {
    /// The number of rows on a page, unless the client says another one.
    pub const DEFAULT_LIMIT: u32 = 100;
    /// The largest number of rows that a client may request for a page.
    pub const MAX_LIMIT: u32 = 1_000;

    /// Takes `limit`, `cursor` and `total` from the parameters, and `sort` if there are columns to choose among.
    pub(crate) fn take_from_parameters(
        parameters: &mut QueryParameters,
        choices: &[SortChoice],
    ) -> Result<Self, QueryError> {
        let requested = match choices {
            [] => None,
            _ => parameters.take_text("sort")?,
        };
        let sort = requested
            .map(|text| SortChoice::find(choices, &text))
            .transpose()?;
        let limit = match parameters.take_text("limit")? {
            None => Self::DEFAULT_LIMIT,
            Some(text) => {
                let limit = text.parse().ok();
                limit
                    .filter(|limit| (1..=Self::MAX_LIMIT).contains(limit))
                    .ok_or_else(|| {
                        let message =
                            format!("must be a whole number from 1 to {}", Self::MAX_LIMIT);
                        QueryError::invalid("limit", message)
                    })?
            }
        };
        let after = match parameters.take_text("cursor")? {
            None => None,
            Some(text) => {
                let message = "must be the nextCursor of the page before";
                let cursor = PageCursor::decode(&text);
                Some(cursor.ok_or_else(|| QueryError::invalid("cursor", message))?)
            }
        };
        let total = parameters.take_optional("total")?.unwrap_or(false);
        Ok(Self {
            limit,
            after,
            total,
            sort,
            ..Self::default()
        })
    }

    /// Returns the parameters of the first rows for code that needs all of them, however large they are.
    pub(super) fn first_rows(limit: u32) -> Self {
        Self {
            limit,
            most_bytes: usize::MAX,
            ..Self::default()
        }
    }

    /// Returns the parameter of a `LIMIT`: one row more than the page has. The additional row shows that
    /// there is a next page.
    pub(super) fn limit_plus_one(&self) -> Cell {
        Cell::Integer(i64::from(self.limit).saturating_add(1))
    }
}

/// A page of rows, and the cursor of the next page.
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
#[schemars(
    rename = "PageOf{R}",
    description = "Some rows, and the cursor of the next page."
)]
pub struct Page<R> {
    /// The rows.
    pub items: Vec<R>,
    /// The value of `cursor` for the next page. The last page has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The number of rows on all pages, if the caller sends `total=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl<R> Page<R> {
    /// Converts each row, and keeps the cursor and the total.
    #[must_use]
    pub fn map<T>(self, convert: impl FnMut(R) -> T) -> Page<T> {
        Page {
            items: self.items.into_iter().map(convert).collect(),
            next_cursor: self.next_cursor,
            total: self.total,
        }
    }

    /// Creates a page from the rows that were loaded for it. An additional row is left out. It shows
    /// that there is a next page. Rows that reached the limit of bytes make a shorter page. `cursor` gets the last row of this page and the first one of the next page.
    pub(super) fn new(
        FetchedRows {
            mut rows, is_cut, ..
        }: FetchedRows<R>,
        paging: &PageParameters,
        total: Option<u64>,
        cursor: impl FnOnce([&R; 2]) -> Result<PageCursor, QueryError>,
    ) -> Result<Self, QueryError> {
        let limit = if is_cut {
            rows.len().saturating_sub(1)
        } else {
            usize::try_from(paging.limit).unwrap_or(usize::MAX)
        };
        let last = rows.get(..limit).and_then(<[R]>::last);
        let next_cursor = match (last, rows.get(limit)) {
            (Some(last), Some(next)) => Some(cursor([last, next])?.encode()?),
            _ => None,
        };
        rows.truncate(limit);
        Ok(Self {
            items: rows,
            next_cursor,
            total,
        })
    }

    /// Converts each row, unless one cannot be converted.
    pub(super) fn try_map<T>(
        self,
        convert: impl FnMut(R) -> Result<T, QueryError>,
    ) -> Result<Page<T>, QueryError> {
        Ok(Page {
            items: self
                .items
                .into_iter()
                .map(convert)
                .collect::<Result<_, _>>()?,
            next_cursor: self.next_cursor,
            total: self.total,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paging(pairs: &[(&str, &str)]) -> Result<PageParameters, QueryError> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        let mut parameters = QueryParameters::new(pairs)?;
        let paging = PageParameters::take_from_parameters(&mut parameters, &[])?;
        parameters.check_all_taken()?;
        Ok(paging)
    }

    #[test]
    fn a_page_has_a_limit_of_its_own() {
        let limit = |pairs: &[_]| paging(pairs).map(|paging| paging.limit).ok();
        assert_eq!(limit(&[]), Some(PageParameters::DEFAULT_LIMIT));
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
