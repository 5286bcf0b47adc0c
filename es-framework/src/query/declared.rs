//! The declaration of a query.

use std::{future::Future, pin::Pin};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Paging, ParameterDescriptions, QueryContext, QueryError, QueryParameters};
use crate::{
    Declaration,
    projection::{ColumnUse, Database},
};

/// Something that clients ask. `#[derive(Query)]` implements it.
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
    /// Its Rust name.
    const NAME: &'static str;
    /// What it answers, in a sentence.
    const SUMMARY: &'static str;
    /// What else there is to say: the rest of its doc comment.
    const DESCRIPTION: &'static str = "";
    /// Where it is asked, such as `/books/{id}`.
    const PATH: &'static str;
    /// Whether it is answered a page at a time, and so takes `limit`, `cursor` and `total`.
    const PAGED: bool;
    /// The tables that it is answered from; none for all of them.
    const TABLES: &'static [&'static str];
    /// How it uses their columns.
    const FILTERS: &'static [ColumnIndex];
    /// What a caller has to be, where callers are known. Without it, any caller may ask.
    const ROLE: Option<&'static str> = None;
    /// Where it is declared.
    const DECLARATION: Declaration;

    /// Takes the fields from the parameters.
    ///
    /// # Errors
    /// A parameter is missing or malformed.
    fn parse(parameters: &mut QueryParameters) -> Result<Self, QueryError>;

    /// Says which parameters [`Query::parse`] takes, for those who read about the query.
    fn describe(parameters: &mut ParameterDescriptions<'_>) {
        let _ = parameters;
    }
}

/// What a query is answered with. `rows = …` and `row = …` in `#[query(…)]` implement it; an
/// `impl` by hand answers whatever else.
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
/// /// The books whose title begins with a letter.
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
///         let rows = context.rows::<BookCopy>().at_least("title", &self.letter);
///         rows.order_by("title", Direction::Ascending).page(context.paging()).await
///     }
/// }
///
/// let hobbit = BookPurchasedEvent { id: "42".into(), title: "The Hobbit".into() };
/// let page = given().event_on("/books/42", hobbit).ask(ByLetter { letter: "T".into() })?;
/// assert_eq!(page.items[0].title, "The Hobbit");
/// # Ok::<_, QueryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "nothing answers the query `{Self}`",
    label = "this query has no answer",
    note = "name a read model with `#[query(rows = BookCopy)]` or `#[query(row = BookCopy)]`, or write `impl QueryHandler for {Self}`"
)]
pub trait QueryHandler: Query {
    /// The JSON that is answered.
    type Output: Serialize + JsonSchema;

    /// The answer.
    ///
    /// # Errors
    /// There is none, or the database failed.
    fn handle(
        self,
        context: &QueryContext<'_>,
    ) -> impl Future<Output = Result<Self::Output, QueryError>> + Send;
}

/// How a query uses a column.
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
/// # #[derive(Query)]
/// # #[query(path = "/books", rows = BookCopy)]
/// # struct BrowseStock {
/// #     #[filter(contains)]
/// #     title: Option<String>,
/// # }
/// let [filter] = BrowseStock::FILTERS else { panic!("it is one") };
/// assert_eq!((filter.table, filter.column), ("book_copies", "title"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ColumnIndex {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// What it is used for.
    pub by: ColumnUse,
}

/// A query without its Rust type.
///
/// ```
/// use es_framework::{prelude::*, query::QueryDescriptor};
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
/// # #[derive(Query)]
/// # #[query(path = "/books", rows = BookCopy)]
/// # struct BrowseStock {
/// #     #[filter(contains)]
/// #     title: Option<String>,
/// # }
/// let browse = QueryDescriptor::of::<BrowseStock>();
/// assert_eq!((browse.path, browse.paged), ("/books", true));
/// ```
#[derive(Clone, Copy)]
pub struct QueryDescriptor {
    /// Its Rust name.
    pub name: &'static str,
    /// What it answers, in a sentence.
    pub summary: &'static str,
    /// What else there is to say.
    pub description: &'static str,
    /// Where it is asked.
    pub path: &'static str,
    /// Whether it is answered a page at a time.
    pub paged: bool,
    /// The tables that it is answered from; none for all of them.
    pub tables: &'static [&'static str],
    /// How it uses their columns.
    pub filters: &'static [ColumnIndex],
    /// What a caller has to be, where callers are known.
    pub role: Option<&'static str>,
    /// Where it is declared.
    pub declaration: Declaration,
    /// Says which parameters it takes.
    pub parameters: fn(&mut ParameterDescriptions<'_>),
    /// The JSON schema of its answer.
    pub answer: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) parse: fn(QueryParameters) -> Result<Box<dyn Asked>, QueryError>,
}

inventory::collect!(QueryDescriptor);

impl QueryDescriptor {
    /// The descriptor of the query `Q`.
    #[must_use]
    pub const fn of<Q: QueryHandler>() -> Self {
        Self {
            name: Q::NAME,
            summary: Q::SUMMARY,
            description: Q::DESCRIPTION,
            path: Q::PATH,
            paged: Q::PAGED,
            tables: Q::TABLES,
            filters: Q::FILTERS,
            role: Q::ROLE,
            declaration: Q::DECLARATION,
            parameters: Q::describe,
            answer: SchemaGenerator::subschema_for::<Q::Output>,
            parse: parse::<Q>,
        }
    }
}

impl std::fmt::Debug for QueryDescriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryDescriptor")
            .field("name", &self.name)
            .field("path", &self.path)
            .field("declaration", &self.declaration)
            .finish_non_exhaustive()
    }
}

/// A query that a client asked, its parameters taken.
pub(crate) trait Asked: Send {
    /// The answer as JSON.
    fn answer<'a>(
        self: Box<Self>,
        database: &'a Database,
        now: jiff::Timestamp,
    ) -> Pin<Box<dyn Future<Output = Result<Box<RawValue>, QueryError>> + Send + 'a>>;
}

struct Parsed<Q> {
    query: Q,
    paging: Paging,
}

fn parse<Q: QueryHandler>(mut parameters: QueryParameters) -> Result<Box<dyn Asked>, QueryError> {
    let query = Q::parse(&mut parameters)?;
    let paging = match Q::PAGED {
        true => parameters.paging()?,
        false => Paging::default(),
    };
    parameters.check_all_taken()?;
    Ok(Box::new(Parsed { query, paging }))
}

impl<Q: QueryHandler> Asked for Parsed<Q> {
    fn answer<'a>(
        self: Box<Self>,
        database: &'a Database,
        now: jiff::Timestamp,
    ) -> Pin<Box<dyn Future<Output = Result<Box<RawValue>, QueryError>> + Send + 'a>> {
        Box::pin(async move {
            let Self { query, paging } = *self;
            let context = QueryContext::new(database, paging, now);
            let answer = query.handle(&context).await?;
            Ok(serde_json::value::to_raw_value(&answer)?)
        })
    }
}
