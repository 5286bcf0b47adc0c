//! What an answer is made with.

use jiff::Timestamp;

use serde::{Serialize, de::DeserializeOwned};

use super::{Among, Page, Paging, QueryError, Select};
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
    pub(super) database: &'a Database,
    pub(super) paging: Paging,
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
        self.own().sql(statement, parameters).await
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
        self.own().page(statement, parameters, sorted_by).await
    }

    const fn own(&self) -> Among<'_> {
        Among {
            reading: self,
            rows: None,
        }
    }

    /// For SQL of your own that finds something among these rows, whatever their order: `{rows}` in
    /// the statement stands for the condition that a row is one of them. So it finds parts of texts
    /// through their index, too. The condition names columns of the read model's table without the
    /// name of the table.
    ///
    /// ```
    /// use es_framework::{prelude::*, projection::Sql};
    ///
    /// # #[derive(Event)]
    /// # struct BookPurchasedEvent { id: Uuid, title: String }
    /// # #[derive(ReadModel)]
    /// # #[read_model(table = "book_copies", subject = "/books/{id}")]
    /// # struct BookCopy { #[key] id: Uuid, title: String }
    /// # #[projection]
    /// # impl BookCopy {
    /// #     fn purchased(event: BookPurchasedEvent) -> Self { Self { id: event.id, title: event.title } }
    /// # }
    /// const TITLES: Sql = Sql {
    ///     sqlite: "SELECT DISTINCT json_quote(title) FROM book_copies WHERE {rows} LIMIT 20",
    ///     postgres: "SELECT DISTINCT to_json(title)::text FROM book_copies WHERE {rows} LIMIT 20",
    /// };
    ///
    /// async fn titles(reading: &Reading<'_>, part: &str) -> Result<Vec<String>, QueryError> {
    ///     let held = reading.rows::<BookCopy>().contains("title", part);
    ///     reading.among(held).await?.sql(TITLES, vec![]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The database failed, or a column is not declared.
    pub async fn among<R: ReadModel>(&self, rows: Select<'_, R>) -> Result<Among<'_>, QueryError> {
        let rows = Some(rows.condition()?);
        Ok(Among {
            reading: self,
            rows,
        })
    }

    /// The database, for what is not said in SQL and JSON.
    #[must_use]
    pub const fn database(&self) -> &'a Database {
        self.database
    }
}
