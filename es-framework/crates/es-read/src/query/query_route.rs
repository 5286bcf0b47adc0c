//! The routes of queries, and of read models whose rows are events.

use super::{
    QueryDescriptor, QueryError, QueryParameters,
    event_rows::{browse_page, find_first_by_subject, parse_paging},
    parsed_query::ParsedQuery,
};
use serde_json::value::to_raw_value;

use crate::projection::{ColumnVisibility, ReadModels, Table};
use es_event::{Caller, Declaration, OwnerRule, Subject};

/// A path that answers `GET`.
///
/// ```
/// use es_framework::{
///     prelude::*,
///     projection::{ReadModelDescriptor, ReadModels},
///     query::{QueryRoute, QueryRouteTarget},
/// };
///
/// #[derive(Event)]
/// #[event(read_model = "donations")]
/// struct BookDonatedEvent {
///     title: String,
/// }
///
/// let models = ReadModels::new([ReadModelDescriptor::of_events::<BookDonatedEvent>()])?;
/// let table = models.iter().next().unwrap();
/// let route = QueryRoute {
///     path: "/donations".into(),
///     declaration: table.model.declaration,
///     target: QueryRouteTarget::BrowseEvents(table.clone()),
///     visibility: Vec::new(),
/// };
/// assert!(route.roles().is_empty());
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
    /// The columns of its read models that only some callers see.
    pub visibility: Vec<ColumnVisibility>,
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
    ) -> Result<ParsedQuery, QueryError> {
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
                let (table, paging) = (table.clone(), parse_paging(parameters)?);
                Ok(Box::new(move |database, _| {
                    Box::pin(async move {
                        let page = browse_page(database, &table, &paging).await?;
                        Ok(to_raw_value(&page)?)
                    })
                }))
            }
            QueryRouteTarget::FindEvent(table) => {
                parameters.check_all_taken()?;
                // Every event has a valid subject.
                let subject = path.parse::<Subject>().map_err(|_| QueryError::NotFound)?;
                let table = table.clone();
                Ok(Box::new(move |database, _| {
                    Box::pin(async move {
                        let row = find_first_by_subject(database, &table, &subject).await?;
                        row.ok_or(QueryError::NotFound)
                    })
                }))
            }
        }
    }

    /// Returns the roles of which a caller needs one if the service authenticates callers.
    #[must_use]
    pub const fn roles(&self) -> &'static [&'static str] {
        match self.declared_query() {
            Some(query) => query.roles,
            None => &[],
        }
    }

    /// Returns whether the query may compare, sort or group by a column that only some callers see. A handler of the
    /// application may do so with each column of its read models.
    #[doc(hidden)]
    #[must_use]
    pub fn may_compare_hidden_column(&self) -> bool {
        let Some(query) = self.declared_query() else {
            return false;
        };
        let mut columns = self.visibility.iter().map(|rule| rule.column.name);
        columns.any(|column| query.tables.is_empty() || query.compared_columns.contains(&column))
    }

    /// Returns the rule about the owner, if there is one.
    #[must_use]
    pub const fn owner(&self) -> Option<OwnerRule> {
        match self.declared_query() {
            Some(query) => query.owner,
            None => None,
        }
    }

    /// Returns whether the application does not warn at its start when no token has one of the roles.
    #[must_use]
    pub const fn role_without_token(&self) -> bool {
        matches!(self.declared_query(), Some(query) if query.role_without_token)
    }

    /// Returns whether everybody may send the query without a credential, also if the service authenticates callers.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        matches!(self.declared_query(), Some(query) if query.public)
    }

    const fn declared_query(&self) -> Option<&QueryDescriptor> {
        match &self.target {
            QueryRouteTarget::Query(query) => Some(query),
            QueryRouteTarget::BrowseEvents(_) | QueryRouteTarget::FindEvent(_) => None,
        }
    }
}

impl ReadModels {
    /// Adds the indexes that queries need.
    #[must_use]
    pub fn with_indexes_of(self, queries: &[QueryDescriptor]) -> Self {
        let indexes = queries.iter().flat_map(|query| query.indexes);
        indexes.fold(self, |models, index| {
            models.with_column_index(index.table, index.column, index.by)
        })
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
