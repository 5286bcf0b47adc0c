//! The declaration of a query: its parameters, and the handler that answers it.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    ParameterDescriptions, QueryContext, QueryError, QueryParameters, RequiredIndex, SortChoice,
};
use es_event::{Caller, Declaration, NotOwner, OwnerRule, ServiceType};

/// The declaration of a query: a struct whose fields are the parameters of a `GET`. `#[derive(Query)]`
/// implements the trait. [`QueryHandler`] answers the query.
///
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: String, title: String }
/// # #[derive(Debug, PartialEq, ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy { #[key] id: String, title: String }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: BookPurchasedEvent) -> Self { Self { id: event.id, title: event.title } }
/// # }
///
/// /// Browses the stock.
/// #[derive(Query)]
/// #[query(path = "/books", rows = BookCopy)]
/// struct BrowseStock {
///     #[filter(contains)]
///     title: Option<String>,
/// }
///
/// assert_eq!((BrowseStock::PATH, BrowseStock::SUMMARY), ("/books", "Browses the stock."));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query",
    label = "this is no query",
    note = "put `#[derive(Query)]` on the struct `{Self}`"
)]
pub trait Query: Sized + Send + 'static {
    /// The name of the query's Rust type.
    const NAME: &'static str;
    /// The query's summary: the first paragraph of its doc comment, or a sentence made from its name.
    const SUMMARY: &'static str;
    /// The rest of the query's doc comment.
    const DESCRIPTION: &'static str = "";
    /// The path of the query's route, such as `/books/{id}`. In braces is the name of a parameter.
    const PATH: &'static str;
    /// True if the query's output is a page. Then it takes `limit`, `cursor` and `total`.
    const PAGED: bool;
    /// The tables that the query reads; if empty, it may read all of them.
    const TABLES: &'static [&'static str];
    /// The columns among which clients choose the sort order of the rows with the parameter `sort`. Without any, there is
    /// no such parameter. A query that is no page has none.
    const SORT_CHOICES: &'static [SortChoice] = &[];
    /// The columns that need an index because it compares, sorts by or searches them.
    const INDEXES: &'static [RequiredIndex];
    /// The columns that it compares, sorts by or searches, with and without an index, if the framework answers it.
    const COMPARED_COLUMNS: &'static [&'static str] = &[];
    /// The roles of which a caller needs one if the service authenticates callers. Without roles, any caller may
    /// send the query.
    const ROLES: &'static [&'static str] = &[];
    /// True if the application does not warn at its start when no token has one of the roles.
    const ROLE_WITHOUT_TOKEN: bool = false;
    /// True if everybody may send the query without a credential, also if the service authenticates callers.
    const PUBLIC: bool = false;
    /// The rule about the owner, if there is one.
    const OWNER: Option<OwnerRule> = None;
    /// The place of the query's declaration in the source code.
    const DECLARATION: Declaration;

    /// Takes the values of its fields from the parameters.
    ///
    /// # Errors
    /// A parameter is missing or malformed.
    fn parse(parameters: &mut QueryParameters) -> Result<Self, QueryError>;

    /// Checks that the field of [`OWNER`](Self::OWNER) has the owner id of the caller.
    ///
    /// # Errors
    /// It has another one, or the caller has none.
    fn check_owner(&self, caller: &Caller) -> Result<(), NotOwner> {
        let _ = caller;
        Ok(())
    }

    /// Describes the parameters that [`Query::parse`] takes, for the OpenAPI document.
    fn describe(parameters: &mut ParameterDescriptions<'_>) {
        let _ = parameters;
    }
}

/// The handler of a query. `rows = …` and `row = …` in `#[query(…)]` implement it; an `impl` by hand
/// can answer anything else.
///
/// ```standalone_crate
/// use es_framework::{prelude::*, testing::given};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: String, title: String }
/// # #[derive(Debug, PartialEq, ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy { #[key] id: String, title: String }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: BookPurchasedEvent) -> Self { Self { id: event.id, title: event.title } }
/// # }
///
/// /// Lists the books whose title begins with a letter or comes after it.
/// #[derive(Query)]
/// #[query(path = "/books/by-letter", paged)]
/// struct ByLetter {
///     letter: String,
/// }
///
/// impl QueryHandler for ByLetter {
///     type Output = Page<BookCopy>;
///
///     async fn handle(self, context: &QueryContext<'_>) -> Result<Page<BookCopy>, QueryError> {
///         if self.letter.chars().count() != 1 {
///             return Err(QueryError::invalid("letter", "must be one letter"));
///         }
///         let rows = context.rows::<BookCopy>().filter(BookCopy::title().at_least(&self.letter));
///         rows.sort(BookCopy::title()).page(context.paging()).await
///     }
/// }
///
/// let hobbit = BookPurchasedEvent { id: "42".into(), title: "The Hobbit".into() };
/// let page = given().event_on("/books/42", hobbit).query(ByLetter { letter: "T".into() })?;
/// assert_eq!(page.items[0].title, "The Hobbit");
/// # Ok::<_, QueryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "nothing handles the query `{Self}`",
    label = "this query has no handler",
    note = "name a read model with `#[query(rows = BookCopy)]` or `#[query(row = BookCopy)]`, or write `impl QueryHandler for {Self}`"
)]
pub trait QueryHandler: Query {
    /// The value that clients get as JSON.
    type Output: Serialize + JsonSchema;

    /// The tables of the read models that the handler reads, for the picture of the application's model.
    /// `rows = …` and `row = …` set it; a handler by hand names them, such as `&[BookCopy::TABLE]`.
    const READ_MODELS: &'static [&'static str] = <Self as Query>::TABLES;
    /// The services and settings that the handler takes from [`QueryContext::service`]. The application does not start
    /// without them.
    const SERVICES: &'static [ServiceType] = &[];

    /// Answers the query.
    ///
    /// # Errors
    /// No row matches the parameters, a parameter is not valid, or the database failed.
    fn handle(
        self,
        context: &QueryContext<'_>,
    ) -> impl Future<Output = Result<Self::Output, QueryError>> + Send;
}
