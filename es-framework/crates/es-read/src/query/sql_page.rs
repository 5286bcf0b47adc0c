//! Pages of hand-written SQL: the statement says by which values its rows are sorted, and the framework selects a page.

use futures_util::future::BoxFuture;
use serde::{Deserialize as _, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use super::{
    Page, QueryContext, QueryError, QueryParameters,
    cursor::{PageCursor, SortValue, short_digest},
    sort_order::SortDirection,
};
use crate::projection::{Cell, QueryCost, Sql};

/// The text of a row's JSON array: the values that it is sorted by, and the item.
const ELEMENTS: Sql = Sql {
    sqlite: r#"json_array("sort", "key", json("item"))"#,
    postgres: r#"json_build_array("sort", "key", "item"::json)::text"#,
};

/// A row of a statement.
struct SqlRow {
    sort: SortValue,
    key: SortValue,
    item: Box<RawValue>,
}

impl QueryContext<'_> {
    /// Runs hand-written SQL, and returns the requested page of its rows, as [`QueryContext::paging`] says. The statement
    /// selects three columns: `sort`, by which the rows are sorted, `key`, which is another one in each row, and `item`, a
    /// JSON value that is read as a `T`. The framework adds the condition, the order and the limit of the page. Rows without
    /// a value in `sort` are left out.
    ///
    /// `sort` and `key` are texts or numbers in SQL. A type of PostgreSQL that is neither, such as `timestamptz`, `uuid` or
    /// `boolean`, is cast to one: `borrowed_at::timestamptz::date::text AS sort`.
    ///
    /// Values belong into `parameters`, never into the statement. SQL sees all columns, also those that `#[visible(…)]`
    /// hides from the caller.
    ///
    /// ```
    /// use es_framework::{prelude::*, projection::Sql};
    ///
    /// const AUTHORS: Sql = Sql {
    ///     sqlite: "SELECT count(*) AS sort, author AS key, json_object('author', author, 'books', count(*)) AS item
    ///         FROM book_copies GROUP BY author",
    ///     postgres: "SELECT count(*) AS sort, author AS key, json_build_object('author', author, 'books', count(*)) AS item
    ///         FROM book_copies GROUP BY author",
    /// };
    ///
    /// #[derive(Value)]
    /// struct Author {
    ///     author: String,
    ///     books: u64,
    /// }
    ///
    /// async fn authors(context: &QueryContext<'_>) -> Result<Page<Author>, QueryError> {
    ///     context.sql_page_descending(AUTHORS, vec![]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The database refuses the statement, a row is no `T`, its `sort` or `key` is neither a text nor a number, the two are
    /// too long for a cursor, or the cursor belongs to another query.
    pub async fn sql_page<T: DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
    ) -> Result<Page<T>, QueryError> {
        let rows = self.load_sql_page(statement, parameters, SortDirection::Ascending);
        rows.await?.try_map(read_item)
    }

    /// Returns a page as [`QueryContext::sql_page`] does, but with the largest `sort` and `key` first.
    ///
    /// # Errors
    /// Those of [`QueryContext::sql_page`].
    pub async fn sql_page_descending<T: DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
    ) -> Result<Page<T>, QueryError> {
        let rows = self.load_sql_page(statement, parameters, SortDirection::Descending);
        rows.await?.try_map(read_item)
    }

    fn load_sql_page(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
        direction: SortDirection,
    ) -> BoxFuture<'_, Result<Page<SqlRow>, QueryError>> {
        Box::pin(async move {
            let (database, paging) = (self.database(), self.paging());
            let source = database.dialect().hand_written(statement);
            let digest = short_digest(&format!("{direction:?}{source}"));
            let start = match &paging.after {
                None => None,
                Some(cursor) => Some(parse_start(cursor, &digest)?),
            };
            for cell in start.iter().flatten() {
                PageCursor::check_storable(cell, database)?;
            }
            let total = if paging.total {
                Some(self.count_sql_rows(source, parameters.clone()).await?)
            } else {
                None
            };
            let (operator, order) = match direction {
                SortDirection::Ascending => (">", ""),
                SortDirection::Descending => ("<", " DESC"),
            };
            let after = match &start {
                None => String::new(),
                Some(_) => format!(" AND (\"sort\", \"key\") {operator} (?, ?)"),
            };
            let clauses = format!("{after} ORDER BY \"sort\"{order}, \"key\"{order} LIMIT ?");
            let end = database.replace_question_marks(&clauses, parameters.len());
            let elements = database.dialect().hand_written(ELEMENTS);
            let selection = format!("SELECT {elements} FROM {}{end}", sorted_rows(source));
            let values = parameters
                .into_iter()
                .chain(start.into_iter().flatten())
                .chain([paging.limit_plus_one()])
                .collect();
            let (cost, most_bytes) = (QueryCost::Aggregate, paging.most_bytes);
            let texts = database
                .fetch_texts_up_to(cost, selection, values, most_bytes)
                .await?;
            let rows = texts.try_map(|text| SqlRow::parse(&text))?;
            Page::new(rows, paging, total, |[last, _]| cursor_after(last, &digest))
        })
    }

    async fn count_sql_rows(&self, source: &str, parameters: Vec<Cell>) -> Result<u64, QueryError> {
        let count = format!("SELECT CAST(count(*) AS TEXT) FROM {}", sorted_rows(source));
        let cost = QueryCost::Aggregate;
        let counts = self
            .database()
            .fetch_texts_up_to(cost, count, parameters, usize::MAX)
            .await?;
        let number = counts.rows.first().map_or("0", String::as_str);
        Ok(serde_json::from_str(number)?)
    }
}

impl SqlRow {
    fn parse(text: &str) -> Result<Self, QueryError> {
        let (sort_json, key_json, item): (Value, Value, _) = serde_json::from_str(text)?;
        let value = |json| sort_value(json).ok_or(QueryError::UnsortableValue);
        let (sort, key) = (value(&sort_json)?, value(&key_json)?);
        Ok(Self { sort, key, item })
    }
}

fn read_item<T: DeserializeOwned>(row: SqlRow) -> Result<T, QueryError> {
    Ok(serde_json::from_str(row.item.get())?)
}

/// Returns the rows of a statement that have a value to sort by, as what follows `FROM`.
fn sorted_rows(statement: &str) -> String {
    format!("({statement}) AS sql_rows WHERE \"sort\" IS NOT NULL")
}

/// Returns the values after which the page begins.
fn parse_start(cursor: &PageCursor, digest: &str) -> Result<[Cell; 2], QueryError> {
    let values = match cursor.group_key(3)? {
        [statement, sort, key] if statement == digest => sort_value(sort).zip(sort_value(key)),
        _ => None,
    };
    let (sort, key) = values.ok_or_else(PageCursor::foreign_cursor_error)?;
    Ok([sort.into(), key.into()])
}

fn sort_value(json: &Value) -> Option<SortValue> {
    SortValue::deserialize(json).ok()
}

fn cursor_after(last: &SqlRow, digest: &str) -> Result<PageCursor, QueryError> {
    let key = serde_json::json!([digest, last.sort, last.key]);
    let cursor = PageCursor::Group { key };
    if cursor.encode()?.len() > QueryParameters::MAX_LENGTH {
        return Err(QueryError::LongSortValues);
    }
    Ok(cursor)
}
