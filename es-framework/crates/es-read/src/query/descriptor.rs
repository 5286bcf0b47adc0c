//! The descriptor of a query: what the catalog, the routes and the OpenAPI document know about it.

use schemars::{Schema, SchemaGenerator};

use super::{
    ParameterDescriptions, QueryError, QueryHandler, QueryParameters, RequiredIndex, SortChoice,
    parsed_query::{self, ParsedQuery},
};
use es_event::{Caller, Declaration, OwnerRule, ServiceType};

/// The description of a query as plain data, without its Rust type.
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
    /// The name of the query's Rust type.
    pub name: &'static str,
    /// The query's summary: the first paragraph of its doc comment, or a sentence made from its name.
    pub summary: &'static str,
    /// The rest of the query's doc comment.
    pub description: &'static str,
    /// The path of the query's route.
    pub path: &'static str,
    /// True if the query's output is a page.
    pub paged: bool,
    /// The columns among which clients choose the sort order.
    pub sort_choices: &'static [SortChoice],
    /// The tables that the query reads; if empty, it may read all of them.
    pub tables: &'static [&'static str],
    /// The tables of the read models that the handler says it reads; they may be fewer than it reads.
    pub read_models: &'static [&'static str],
    /// The services and settings that the handler takes.
    pub services: &'static [ServiceType],
    /// The columns that need an index.
    pub indexes: &'static [RequiredIndex],
    /// The columns that the framework compares, sorts by or searches.
    pub compared_columns: &'static [&'static str],
    /// The roles of which a caller needs one if the service authenticates callers.
    pub roles: &'static [&'static str],
    /// True if the application does not warn at its start when no token has one of the roles.
    pub role_without_token: bool,
    /// True if everybody may send the query without a credential, also if the service authenticates callers.
    pub public: bool,
    /// The rule about the owner, if there is one.
    pub owner: Option<OwnerRule>,
    /// The place of the query's declaration in the source code.
    pub declaration: Declaration,
    /// Describes the query's parameters.
    pub describe: fn(&mut ParameterDescriptions<'_>),
    /// Returns the JSON schema of the query's output.
    pub output: fn(&mut SchemaGenerator) -> Schema,
    /// Parses the query's parameters, and checks the rule about the owner.
    pub parse: fn(QueryParameters, &Caller) -> Result<ParsedQuery, QueryError>,
}

inventory::collect!(QueryDescriptor);

impl QueryDescriptor {
    /// Describes the query `Q`.
    #[must_use]
    pub const fn of<Q: QueryHandler>() -> Self {
        Self {
            name: Q::NAME,
            summary: Q::SUMMARY,
            description: Q::DESCRIPTION,
            path: Q::PATH,
            paged: Q::PAGED,
            sort_choices: Q::SORT_CHOICES,
            tables: Q::TABLES,
            read_models: Q::READ_MODELS,
            services: Q::SERVICES,
            indexes: Q::INDEXES,
            compared_columns: Q::COMPARED_COLUMNS,
            roles: Q::ROLES,
            role_without_token: Q::ROLE_WITHOUT_TOKEN,
            public: Q::PUBLIC,
            owner: Q::OWNER,
            declaration: Q::DECLARATION,
            describe: Q::describe,
            output: SchemaGenerator::subschema_for::<Q::Output>,
            parse: parsed_query::parse::<Q>,
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
