//! The context of a query's handler.

use std::sync::Arc;

use jiff::Timestamp;

use serde::de::DeserializeOwned;

use super::{PageParameters, QueryError, RowQuery, condition::Expression};
use crate::projection::{Cell, Database, KeyRef, QueryCost, ReadModel, RowIdentity, RowKey, Sql};
use es_event::{Caller, Services};

/// The context of a query's handler: the read models, the requested page, and the time.
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
/// /// Returns a page of the copies whose title begins with a letter or comes after it.
/// async fn from_letter(context: &QueryContext<'_>, letter: &String) -> Result<Page<BookCopy>, QueryError> {
///     let rows = context.rows::<BookCopy>().filter(BookCopy::title().at_least(letter));
///     rows.sort(BookCopy::title()).page(context.paging()).await
/// }
/// ```
#[derive(Debug)]
pub struct QueryContext<'a> {
    database: &'a Database,
    paging: PageParameters,
    now: Timestamp,
    caller: Caller,
    services: Services,
}

impl<'a> QueryContext<'a> {
    /// Creates the context of a query that arrives at this time.
    #[must_use]
    pub fn new(database: &'a Database, paging: PageParameters, now: Timestamp) -> Self {
        Self {
            database,
            paging,
            now,
            caller: Caller::Anyone,
            services: Services::default(),
        }
    }

    /// Sets the sender of the query.
    #[must_use]
    pub fn with_caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// Sets the services that the application provides.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        Self { services, ..self }
    }

    /// Returns a service or settings. [`QueryHandler::SERVICES`](super::QueryHandler::SERVICES) names them, so that the
    /// application provides them or does not start. `#[query_handler]` writes both.
    ///
    /// ```
    /// use es_framework::prelude::*;
    ///
    /// #[derive(Service)]
    /// struct Branches {
    ///     names: Vec<String>,
    /// }
    ///
    /// /// Refuses a branch that does not exist.
    /// fn check_branch(context: &QueryContext<'_>, branch: &String) -> Result<(), QueryError> {
    ///     let branches = context.service::<Branches>()?;
    ///     match branches.names.contains(branch) {
    ///         true => Ok(()),
    ///         false => Err(QueryError::invalid("branch", "is no branch")),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// The application does not provide it.
    pub fn service<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, QueryError> {
        let service = std::any::type_name::<T>();
        self.services
            .get()
            .ok_or(QueryError::NotProvided { service })
    }

    /// Returns the sender of the query.
    ///
    /// ```
    /// use es_framework::prelude::*;
    ///
    /// /// Refuses a reader who asks for the loans of another one.
    /// fn check_reader(context: &QueryContext<'_>, reader: &Uuid) -> Result<(), QueryError> {
    ///     Ok(context.caller().must_own(reader)?)
    /// }
    /// ```
    #[must_use]
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Starts a query for rows of a read model, as the caller sees them: without the values of columns that
    /// `#[visible(…)]` hides from the caller.
    #[must_use]
    pub fn rows<R: ReadModel>(&self) -> RowQuery<'a, R> {
        RowQuery::new(self.database, self.caller.clone())
    }

    /// Returns the row with this key, as the caller sees it. The key of several fields is a tuple of references.
    ///
    /// ```
    /// use es_framework::prelude::*;
    /// # #[derive(Event)]
    /// # struct SeatSoldEvent { hall: String, seat: u32, price: i64 }
    /// #[derive(ReadModel)]
    /// #[read_model(table = "sold_seats")]
    /// struct SoldSeat {
    ///     #[key]
    ///     hall: String,
    ///     #[key]
    ///     seat: u32,
    ///     price: i64,
    /// }
    /// # #[projection]
    /// # impl SoldSeat {
    /// #     #[key(hall, seat)]
    /// #     fn sold(event: SeatSoldEvent) -> Self {
    /// #         Self { hall: event.hall, seat: event.seat, price: event.price }
    /// #     }
    /// # }
    ///
    /// async fn price(context: &QueryContext<'_>, hall: &String, seat: u32) -> Result<Option<i64>, QueryError> {
    ///     let sold = context.find_row::<SoldSeat>((hall, &seat)).await?;
    ///     Ok(sold.map(|sold| sold.price))
    /// }
    /// ```
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_row<R: ReadModel>(
        &self,
        key: KeyRef<'_, R>,
    ) -> Result<Option<R>, QueryError> {
        // No row has a key that cannot be one.
        let Ok(key) = RowKey::from_fields::<R>(key) else {
            return Ok(None);
        };
        let column = RowIdentity::of::<R>().key_column();
        let mut rows = self.rows::<R>();
        let is_of_key = Expression::equal_to(column, key.into());
        rows.selection.conditions.push(is_of_key);
        rows.first().await
    }

    pub(super) const fn database(&self) -> &'a Database {
        self.database
    }

    /// Returns the requested page: the first page if the query is not `paged`.
    #[must_use]
    pub const fn paging(&self) -> &PageParameters {
        &self.paging
    }

    /// Returns the time at which the query arrived, by the application's clock.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Runs hand-written SQL. Each row has one column, a JSON value that is read as a `T`. Values
    /// belong into `parameters`, never into the statement. SQL sees all columns, also those that `#[visible(…)]` hides
    /// from the caller.
    ///
    /// ```
    /// use es_framework::{prelude::*, projection::{Cell, Sql}};
    ///
    /// const LONGEST: Sql = Sql {
    ///     sqlite: "SELECT json_quote(title) FROM book_copies WHERE author = ?1 ORDER BY length(title) DESC LIMIT 20",
    ///     postgres: "SELECT to_json(title)::text FROM book_copies WHERE author = $1 ORDER BY length(title) DESC LIMIT 20",
    /// };
    ///
    /// async fn longest(context: &QueryContext<'_>, author: &str) -> Result<Vec<String>, QueryError> {
    ///     context.sql(LONGEST, vec![Cell::Text(author.to_owned())]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The database refuses the statement, or a row is no `T`.
    pub async fn sql<T: DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
    ) -> Result<Vec<T>, QueryError> {
        let statement = self.database.dialect().hand_written(statement).to_owned();
        // Nobody knows how many rows the statement reads.
        let texts = self
            .database
            .fetch_texts_up_to(QueryCost::Aggregate, statement, parameters, usize::MAX)
            .await?;
        let rows = texts.rows.iter().map(|row| serde_json::from_str(row));
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
