//! SQL of an application's own.

use serde::{Serialize, de::DeserializeOwned};

use super::{Page, QueryContext, QueryError, cursor::Cursor};
use crate::projection::{Cell, Sql};

/// Where the condition that a row is one of those that are meant stands in a statement.
const ROWS: &str = "{rows}";

/// SQL of your own that finds something among rows; [`QueryContext::among`] makes it.
///
/// ```
/// use es_framework::{prelude::*, projection::Sql, query::Among};
///
/// const LONGEST: Sql = Sql {
///     sqlite: "SELECT json_quote(title) FROM book_copies WHERE {rows} ORDER BY length(title) DESC LIMIT 1",
///     postgres: "SELECT to_json(title)::text FROM book_copies WHERE {rows} ORDER BY length(title) DESC LIMIT 1",
/// };
///
/// async fn longest_title(copies: &Among<'_>) -> Result<Option<String>, QueryError> {
///     Ok(copies.sql(LONGEST, vec![]).await?.pop())
/// }
/// ```
#[derive(Debug)]
pub struct Among<'a> {
    pub(super) context: &'a QueryContext<'a>,
    /// The condition that a row is one of them, with `?` for each of its parameters.
    pub(super) rows: Option<(String, Vec<Cell>)>,
}

impl Among<'_> {
    /// Like [`QueryContext::sql`], with `{rows}` in the statement.
    ///
    /// # Errors
    /// The database refuses the statement, it lacks `{rows}`, or a row is no `T`.
    pub async fn sql<T: DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
    ) -> Result<Vec<T>, QueryError> {
        let (statement, parameters) = self.complete(statement, parameters)?;
        let rows = self.context.database.texts(statement, parameters).await?;
        let rows = rows.iter().map(|row| serde_json::from_str(row));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Like [`QueryContext::page`], with `{rows}` in the statement.
    ///
    /// # Errors
    /// The cursor belongs to another query, the database refuses the statement, it lacks `{rows}`, or
    /// a row is no `T`.
    pub async fn page<T: DeserializeOwned, K: Serialize + DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
        sorted_by: impl Fn(&T) -> K,
    ) -> Result<Page<T>, QueryError> {
        let after = match &self.context.paging.after {
            None => Cell::Null,
            Some(Cursor::Own { own }) => Cell::Text(self.own_values::<K>(own)?),
            Some(Cursor::Row(_)) => return Err(Cursor::of_another_query()),
        };
        let of_page = |after, limit| {
            let more = [after, Cell::Integer(limit)];
            parameters.iter().cloned().chain(more).collect()
        };
        let total = match self.context.paging.total {
            true => {
                let all = of_page(Cell::Null, i64::MAX);
                Some(self.total(statement, all).await?)
            }
            false => None,
        };
        // One more tells whether there is a next page.
        let limit = i64::from(self.context.paging.limit).saturating_add(1);
        let mut items: Vec<T> = self.sql(statement, of_page(after, limit)).await?;
        let limit = usize::try_from(self.context.paging.limit).unwrap_or(usize::MAX);
        let last = items.get(..limit).filter(|shown| shown.len() < items.len());
        let next_cursor = match last.and_then(<[T]>::last) {
            None => None,
            Some(last) => {
                let own = serde_json::to_value(sorted_by(last))?;
                Some(Cursor::Own { own }.encode()?)
            }
        };
        items.truncate(limit);
        Ok(Page {
            items,
            next_cursor,
            total,
        })
    }

    async fn total(&self, statement: Sql, parameters: Vec<Cell>) -> Result<u64, QueryError> {
        let (statement, parameters) = self.complete(statement, parameters)?;
        let statement = format!("SELECT count(*) FROM ({statement}) AS counted");
        let database = self.context.database;
        Ok(database.count_own(statement, parameters).await?)
    }

    /// The statement for the database, with the condition in its place. The parameters of that come
    /// behind all others.
    fn complete(
        &self,
        statement: Sql,
        mut parameters: Vec<Cell>,
    ) -> Result<(String, Vec<Cell>), QueryError> {
        let database = self.context.database;
        let statement = database.own(statement);
        let Some((condition, of_rows)) = &self.rows else {
            return Ok((statement.to_owned(), parameters));
        };
        if !statement.contains(ROWS) {
            let what = format!("the rows of a statement without {ROWS}");
            return Err(QueryError::Undeclared { what });
        }
        let condition = database.numbered(condition, parameters.len());
        parameters.extend(of_rows.iter().cloned());
        Ok((statement.replace(ROWS, &condition), parameters))
    }

    /// The values of a cursor as the statement takes them, if they are of the right types.
    fn own_values<K: DeserializeOwned>(
        &self,
        own: &serde_json::Value,
    ) -> Result<String, QueryError> {
        K::deserialize(own).map_err(|_| Cursor::of_another_query())?;
        let text = own.to_string();
        // PostgreSQL has no such character, so no row of it is sorted by one.
        if self.context.database.lacks_zero() && text.contains("\\u0000") {
            return Err(Cursor::of_another_query());
        }
        Ok(text)
    }
}
