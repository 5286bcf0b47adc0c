//! What an answer is made with.

use jiff::Timestamp;

use serde::{Serialize, de::DeserializeOwned};

use super::{Page, Paging, QueryError, Select, cursor::Cursor};
use crate::projection::{Cell, Database, ReadModel, Sql};

/// What an answer is made with: the read models, the page that is asked for, and the time.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// /// The copies whose title begins with a letter or comes after it, a page at a time.
/// async fn from_letter(reading: &Reading<'_>, letter: &String) -> Result<Page<BookCopy>, QueryError> {
///     let rows = reading.rows::<BookCopy>().at_least("title", letter);
///     rows.order_by("title", Direction::Ascending).page(reading.paging()).await
/// }
/// ```
#[derive(Debug)]
pub struct Reading<'a> {
    database: &'a Database,
    paging: Paging,
    now: Timestamp,
}

impl<'a> Reading<'a> {
    /// What an answer at this time is made with.
    #[must_use]
    pub const fn new(database: &'a Database, paging: Paging, now: Timestamp) -> Self {
        Self {
            database,
            paging,
            now,
        }
    }

    /// The rows of a read model.
    #[must_use]
    pub const fn rows<R: ReadModel>(&self) -> Select<'a, R> {
        Select::new(self.database)
    }

    /// The page that is asked for; the first one if the query is not `paged`.
    #[must_use]
    pub const fn paging(&self) -> &Paging {
        &self.paging
    }

    /// When the query came.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// What SQL of your own finds: each row one column, a JSON object that is read as a `T`. Values
    /// are parameters of the statement, in its order.
    ///
    /// # Errors
    /// The database refuses the statement, or a row is no `T`.
    pub async fn sql<T: DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
    ) -> Result<Vec<T>, QueryError> {
        let rows = self.database.texts(statement, parameters).await?;
        let rows = rows.iter().map(|row| serde_json::from_str(row));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A page of what SQL of your own finds. After `parameters` the statement takes two more: the
    /// values by which the last row of the page before was sorted, as a JSON array or nothing, and
    /// how many rows it may find. Pages are stable if no two rows are sorted by the same values.
    ///
    /// # Errors
    /// The cursor belongs to another query, the database refuses the statement, or a row is no `T`.
    pub async fn page<T: DeserializeOwned, K: Serialize + DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
        sorted_by: impl Fn(&T) -> K,
    ) -> Result<Page<T>, QueryError> {
        let after = match &self.paging.after {
            None => Cell::Null,
            Some(Cursor::Own { own }) => Cell::Text(self.own_values::<K>(own)?),
            Some(Cursor::Row(_)) => return Err(Cursor::of_another_query()),
        };
        let of_page = |after, limit| {
            let more = [after, Cell::Integer(limit)];
            parameters.iter().cloned().chain(more).collect()
        };
        let total = match self.paging.total {
            true => {
                let all = of_page(Cell::Null, i64::MAX);
                Some(self.database.total(statement, all).await?)
            }
            false => None,
        };
        // One more tells whether there is a next page.
        let limit = i64::from(self.paging.limit).saturating_add(1);
        let mut items: Vec<T> = self.sql(statement, of_page(after, limit)).await?;
        let limit = usize::try_from(self.paging.limit).unwrap_or(usize::MAX);
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

    /// The values of a cursor as the statement takes them, if they are of the right types.
    fn own_values<K: DeserializeOwned>(
        &self,
        own: &serde_json::Value,
    ) -> Result<String, QueryError> {
        K::deserialize(own).map_err(|_| Cursor::of_another_query())?;
        let text = own.to_string();
        // PostgreSQL has no such character, so no row of it is sorted by one.
        if self.database.lacks_zero() && text.contains("\\u0000") {
            return Err(Cursor::of_another_query());
        }
        Ok(text)
    }

    /// The database, for what is not said in SQL and JSON.
    #[must_use]
    pub const fn database(&self) -> &'a Database {
        self.database
    }
}
