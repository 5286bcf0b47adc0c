//! The queries of an application, checked before anything starts.

use std::collections::BTreeMap;

use super::QueryDescriptor;
use crate::{
    Declaration,
    projection::{Identity, ReadModels, Table},
};

/// All queries of an application, sorted, without a doubt about any of them.
///
/// ```
/// use es_framework::{
///     prelude::*,
///     projection::{ReadModelDescriptor, ReadModels},
///     query::{Queries, QueryDescriptor},
/// };
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
/// let models = ReadModels::new([ReadModelDescriptor::of::<BookCopy>()])?;
/// let (queries, models) = Queries::new([QueryDescriptor::of::<BrowseStock>()], models)?;
/// assert_eq!(queries.routes(&models)[0].path, "/books");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Queries(Vec<QueryDescriptor>);

/// Why an application does not start. Each names the places at fault.
///
/// ```
/// use es_framework::{
///     prelude::*,
///     projection::ReadModels,
///     query::{Queries, QueriesError, QueryDescriptor},
/// };
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
/// let without_rows = Queries::new([QueryDescriptor::of::<BrowseStock>()], ReadModels::default());
/// let error = without_rows.unwrap_err();
/// assert!(matches!(error, QueriesError::NoSuchTable { table: "book_copies", .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueriesError {
    /// Two answers stand at one path.
    #[error(
        "two queries are asked at {path}: at {first} and at {second}: give one of them another path with #[query(path = \"…\")]"
    )]
    DuplicateRoute {
        /// The path.
        path: String,
        /// Where one is declared.
        first: Declaration,
        /// Where the other is declared.
        second: Declaration,
    },
    /// A query is asked where the framework itself answers.
    #[error(
        "{name} at {declaration} is asked at {path}, which the framework keeps for itself: give it another path with #[query(path = \"…\")]"
    )]
    ReservedRoute {
        /// The query.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// Where it is declared.
        declaration: Declaration,
    },
    /// A query is answered from a read model that is not served.
    #[error(
        "{name} at {declaration} is answered from {table}, which is not served: mount its package with App::mount(\"…\"), or register it with App::register_read_model"
    )]
    NoSuchTable {
        /// The query.
        name: &'static str,
        /// The table.
        table: &'static str,
        /// Where the query is declared.
        declaration: Declaration,
    },
}

/// The head of every path that the framework serves itself.
const RESERVED: [&str; 3] = ["/actuator", "/docs", "/openapi.json"];

/// Something that is answered at a path.
///
/// ```
/// use es_framework::{
///     prelude::*,
///     projection::{ReadModelDescriptor, ReadModels},
///     query::Queries,
/// };
///
/// #[derive(Event)]
/// #[event(read_model = "donations")]
/// struct BookDonatedEvent {
///     title: String,
/// }
///
/// let models = ReadModels::new([ReadModelDescriptor::of_events::<BookDonatedEvent>()])?;
/// let (queries, models) = Queries::new([], models)?;
/// let routes = queries.routes(&models);
/// let paths: Vec<_> = routes.iter().map(|route| route.path.as_str()).collect();
/// assert_eq!(paths, ["/donations", "/donations/{key}"]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct QueryRoute {
    /// The path, with parameters in braces.
    pub path: String,
    /// Where it is declared.
    pub declaration: Declaration,
    /// What is answered.
    pub kind: QueryRouteKind,
}

/// What is answered at a path.
///
/// ```
/// use es_framework::{prelude::*, query::{QueryDescriptor, QueryRouteKind}};
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
/// let kind = QueryRouteKind::Query(QueryDescriptor::of::<BrowseStock>());
/// assert!(matches!(kind, QueryRouteKind::Query(query) if query.name == "BrowseStock"));
/// ```
#[derive(Debug, Clone)]
pub enum QueryRouteKind {
    /// A query.
    Query(QueryDescriptor),
    /// The rows of a read model whose rows are events.
    Browse(Table),
    /// One of these rows.
    Find(Table),
}

impl QueryRoute {
    /// What a caller has to be, where callers are known.
    #[must_use]
    pub const fn role(&self) -> Option<&'static str> {
        match &self.kind {
            QueryRouteKind::Query(query) => query.role,
            QueryRouteKind::Browse(_) | QueryRouteKind::Find(_) => None,
        }
    }
}

impl Queries {
    /// Checks the queries that were declared, and has the read models prepare the columns that they
    /// use.
    ///
    /// # Errors
    /// See [`QueriesError`].
    pub fn new(
        declared: impl IntoIterator<Item = QueryDescriptor>,
        mut models: ReadModels,
    ) -> Result<(Self, ReadModels), QueriesError> {
        let mut queries: Vec<_> = declared.into_iter().collect();
        queries.sort_by_key(|query| (query.path, query.declaration, query.name));
        queries.dedup_by_key(|query| (query.path, query.declaration, query.name));
        for query in &queries {
            check(query, &models)?;
            for filter in query.filters {
                models = models.used(filter.table, filter.column, filter.by);
            }
        }
        let queries = Self(queries);
        queries.check_routes(&models)?;
        Ok((queries, models))
    }

    fn check_routes(&self, models: &ReadModels) -> Result<(), QueriesError> {
        let mut seen = BTreeMap::new();
        for route in self.routes(models) {
            let QueryRoute {
                path, declaration, ..
            } = route;
            if let Some(first) = seen.insert(shape(&path), declaration) {
                return Err(QueriesError::DuplicateRoute {
                    path,
                    first,
                    second: declaration,
                });
            }
        }
        Ok(())
    }

    /// Everything that is asked with `GET`.
    #[must_use]
    pub fn routes(&self, models: &ReadModels) -> Vec<QueryRoute> {
        let mut routes = Vec::new();
        for query in &self.0 {
            routes.push(QueryRoute {
                path: query.path.to_owned(),
                declaration: query.declaration,
                kind: QueryRouteKind::Query(*query),
            });
        }
        let are_events = |table: &&Table| table.model.identity == Identity::Event;
        for table in models.iter().filter(are_events) {
            let name = table.model.name;
            let kinds = [
                (format!("/{name}"), QueryRouteKind::Browse(table.clone())),
                (
                    format!("/{name}/{{key}}"),
                    QueryRouteKind::Find(table.clone()),
                ),
            ];
            for (path, kind) in kinds {
                let declaration = table.model.declaration;
                routes.push(QueryRoute {
                    path,
                    declaration,
                    kind,
                });
            }
        }
        routes
    }
}

fn check(query: &QueryDescriptor, models: &ReadModels) -> Result<(), QueriesError> {
    let QueryDescriptor {
        name,
        path,
        declaration,
        ..
    } = *query;
    let is_reserved = |head: &&str| {
        path.strip_prefix(*head)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if RESERVED.iter().any(is_reserved) {
        return Err(QueriesError::ReservedRoute {
            name,
            path,
            declaration,
        });
    }
    match query
        .tables
        .iter()
        .find(|table| models.get(table).is_none())
    {
        None => Ok(()),
        Some(table) => Err(QueriesError::NoSuchTable {
            name,
            table,
            declaration,
        }),
    }
}

/// A path with its parameters' names left out: `/books/{id}` and `/books/{isbn}` are one route.
fn shape(path: &str) -> String {
    let anonymous = |segment| match str::starts_with(segment, '{') {
        true => "{}",
        false => segment,
    };
    path.split('/').map(anonymous).collect::<Vec<_>>().join("/")
}
