//! The queries of an application. They are checked before the application starts.

use std::collections::BTreeMap;

use super::{
    QueryDescriptor, QueryError, QueryParameters,
    erased_query::{ErasedQuery, EventPageQuery, FirstEventQuery},
    event_rows::EventPage,
};
use crate::projection::{ReadModels, RowIdentity, Table};
use es_event::{Caller, Declaration, OwnerRule, Subject, subject_template};
use es_runtime::is_reserved_path;

/// All queries of an application, sorted and checked.
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

/// A mistake in the queries of an application, which prevents its start. Each error names the
/// declarations at fault.
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
    /// Two queries have the same path.
    #[error(
        "two queries have the path {path}: the one at {first} and the one at {second}: give one of them another path with #[query(path = \"…\")]"
    )]
    DuplicateRoute {
        /// The path.
        path: String,
        /// The declaration of one query.
        first: Declaration,
        /// The declaration of the other query.
        second: Declaration,
    },
    /// A query has a path that belongs to the framework.
    #[error(
        "{name} at {declaration} has the path {path}, which belongs to the framework: give it another path with #[query(path = \"…\")]"
    )]
    ReservedRoute {
        /// The query.
        name: &'static str,
        /// The path.
        path: &'static str,
        /// The place of the declaration.
        declaration: Declaration,
    },
    /// A query reads a read model that the application does not serve.
    #[error(
        "{name} at {declaration} reads the read model {table}, which the application does not serve: mount its package with App::mount(\"…\"), or register it with App::register_read_model"
    )]
    NoSuchTable {
        /// The query.
        name: &'static str,
        /// The table.
        table: &'static str,
        /// The declaration of the query.
        declaration: Declaration,
    },
}

/// A path that answers `GET`.
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
    /// The place of the declaration.
    pub declaration: Declaration,
    /// The query or read model that answers.
    pub target: QueryRouteTarget,
}

/// The query or read model that answers at a path.
///
/// ```
/// use es_framework::{prelude::*, query::{QueryDescriptor, QueryRouteTarget}};
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
/// let target = QueryRouteTarget::Query(QueryDescriptor::of::<BrowseStock>());
/// assert!(matches!(target, QueryRouteTarget::Query(query) if query.name == "BrowseStock"));
/// ```
#[derive(Debug, Clone)]
pub enum QueryRouteTarget {
    /// A query.
    Query(QueryDescriptor),
    /// A page of a read model whose rows are events.
    BrowseEvents(Table),
    /// One row of a read model whose rows are events.
    FindEvent(Table),
}

impl QueryRoute {
    /// Parses a request for this route: its path, and its parameters.
    ///
    /// # Errors
    /// A parameter is not valid, or no row can have this path.
    #[doc(hidden)]
    pub fn parse(
        &self,
        path: &str,
        parameters: QueryParameters,
        caller: &Caller,
    ) -> Result<Box<dyn ErasedQuery + '_>, QueryError> {
        match &self.target {
            QueryRouteTarget::Query(query) => {
                let parsed = (query.parse)(parameters, caller);
                parsed.map_err(|error| match error {
                    // A path without a valid key names no row.
                    QueryError::Invalid { parameter, .. } if is_in_path(query.path, &parameter) => {
                        QueryError::NotFound
                    }
                    error => error,
                })
            }
            QueryRouteTarget::BrowseEvents(table) => {
                let page = EventPage::parse(parameters)?;
                Ok(Box::new(EventPageQuery { table, page }))
            }
            QueryRouteTarget::FindEvent(table) => {
                // Every event has a valid subject.
                let subject = path.parse::<Subject>().map_err(|_| QueryError::NotFound)?;
                Ok(Box::new(FirstEventQuery { table, subject }))
            }
        }
    }

    /// Returns the roles of which a caller needs one if the service authenticates callers.
    #[must_use]
    pub const fn roles(&self) -> &'static [&'static str] {
        match &self.target {
            QueryRouteTarget::Query(query) => query.roles,
            QueryRouteTarget::BrowseEvents(_) | QueryRouteTarget::FindEvent(_) => &[],
        }
    }

    /// Returns the rule about the owner, if there is one.
    #[must_use]
    pub const fn owner(&self) -> Option<OwnerRule> {
        match &self.target {
            QueryRouteTarget::Query(query) => query.owner,
            QueryRouteTarget::BrowseEvents(_) | QueryRouteTarget::FindEvent(_) => None,
        }
    }

    /// Returns whether the application does not warn at its start when no token has one of the roles.
    #[must_use]
    pub const fn role_without_token(&self) -> bool {
        match &self.target {
            QueryRouteTarget::Query(query) => query.role_without_token,
            QueryRouteTarget::BrowseEvents(_) | QueryRouteTarget::FindEvent(_) => false,
        }
    }
}

impl Queries {
    /// Checks the declared queries, and adds the indexes that they need to the read models.
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
            check_query(query, &models)?;
            for index in query.indexes {
                models = models.with_column_index(index.table, index.column, index.by);
            }
        }
        let queries = Self(queries);
        queries.check_routes(&models)?;
        Ok((queries, models))
    }

    /// Checks that no two routes have the same path.
    fn check_routes(&self, models: &ReadModels) -> Result<(), QueriesError> {
        let mut seen = BTreeMap::new();
        for route in self.routes(models) {
            let QueryRoute {
                path, declaration, ..
            } = route;
            if let Some(first) = seen.insert(subject_template::shape(&path), declaration) {
                return Err(QueriesError::DuplicateRoute {
                    path,
                    first,
                    second: declaration,
                });
            }
        }
        Ok(())
    }

    /// Returns all routes, including those of read models whose rows are events.
    #[must_use]
    pub fn routes(&self, models: &ReadModels) -> Vec<QueryRoute> {
        let mut routes = Vec::new();
        for query in &self.0 {
            routes.push(QueryRoute {
                path: query.path.to_owned(),
                declaration: query.declaration,
                target: QueryRouteTarget::Query(*query),
            });
        }
        let are_events = |table: &&Table| table.model.identity == RowIdentity::Event;
        for table in models.iter().filter(are_events) {
            let name = table.model.name;
            let targets = [
                (
                    format!("/{name}"),
                    QueryRouteTarget::BrowseEvents(table.clone()),
                ),
                (
                    format!("/{name}/{{key}}"),
                    QueryRouteTarget::FindEvent(table.clone()),
                ),
            ];
            for (path, target) in targets {
                let declaration = table.model.declaration;
                routes.push(QueryRoute {
                    path,
                    declaration,
                    target,
                });
            }
        }
        routes
    }
}

/// Returns whether a path has a parameter of this name.
fn is_in_path(path: &str, parameter: &str) -> bool {
    path.split('/').any(|segment| {
        let name = segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        name == Some(parameter)
    })
}

/// Checks that a query has a free path and that its tables exist.
fn check_query(query: &QueryDescriptor, models: &ReadModels) -> Result<(), QueriesError> {
    let QueryDescriptor {
        name,
        path,
        declaration,
        ..
    } = *query;
    if is_reserved_path(path) {
        return Err(QueriesError::ReservedRoute {
            name,
            path,
            declaration,
        });
    }
    let mut tables = query.tables.iter().chain(query.read_models);
    match tables.find(|table| models.find_table(table).is_none()) {
        None => Ok(()),
        Some(table) => Err(QueriesError::NoSuchTable {
            name,
            table,
            declaration,
        }),
    }
}
