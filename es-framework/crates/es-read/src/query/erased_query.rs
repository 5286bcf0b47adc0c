//! A query with its parsed parameters, without its Rust type. The route parses it first and runs it when the read
//! models have reached the requested position.

use std::{future::Future, pin::Pin};

use serde_json::value::{RawValue, to_raw_value};

use super::{
    PageParameters, QueryContext, QueryError, QueryHandler, QueryParameters,
    event_rows::{EventPage, browse_page, find_first_by_subject},
};
use crate::projection::{Database, Table, viewer};
use es_event::{Caller, Services, Subject, encode_finite};

/// The output of a query as JSON, once the query has run.
#[doc(hidden)]
pub type QueryOutput<'a> =
    Pin<Box<dyn Future<Output = Result<Box<RawValue>, QueryError>> + Send + 'a>>;

/// A query with its parsed parameters, without its Rust type.
#[doc(hidden)]
pub trait ErasedQuery: Send {
    /// Runs the query at the time of the provided clock, and returns its output as JSON.
    fn run<'a>(self: Box<Self>, database: &'a Database, services: &'a Services) -> QueryOutput<'a>
    where
        Self: 'a;
}

/// A query of the application.
struct DeclaredQuery<Q> {
    query: Q,
    paging: PageParameters,
    caller: Caller,
}

/// Parses the parameters of a query and of its page, and checks the rule about its owner.
pub(super) fn parse<Q: QueryHandler>(
    mut parameters: QueryParameters,
    caller: &Caller,
) -> Result<Box<dyn ErasedQuery>, QueryError> {
    let query = Q::parse(&mut parameters)?;
    let caller = caller.under_rule(Q::OWNER);
    query.check_owner(&caller)?;
    let paging = if Q::PAGED {
        PageParameters::take_from_parameters(&mut parameters, Q::SORT_CHOICES)?
    } else {
        PageParameters::default()
    };
    parameters.check_all_taken()?;
    Ok(Box::new(DeclaredQuery {
        query,
        paging,
        caller,
    }))
}

impl<Q: QueryHandler> ErasedQuery for DeclaredQuery<Q> {
    fn run<'a>(self: Box<Self>, database: &'a Database, services: &'a Services) -> QueryOutput<'a>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let Self {
                query,
                paging,
                caller,
            } = *self;
            let now = services.clock().now();
            let context = QueryContext::new(database, paging, now)
                .with_caller(caller)
                .with_services(services.clone());
            let output = query.handle(&context).await?;
            // The schema of a number does not allow the `null` that JSON writes for NaN.
            let output = viewer::write_for(context.caller(), || encode_finite(&output));
            output.map_err(|error| {
                let error = <serde_json::Error as serde::ser::Error>::custom(error);
                QueryError::Json(error)
            })
        })
    }
}

/// The page of a read model whose rows are events.
pub(super) struct EventPageQuery<'t> {
    pub(super) table: &'t Table,
    pub(super) page: EventPage,
}

impl ErasedQuery for EventPageQuery<'_> {
    fn run<'a>(self: Box<Self>, database: &'a Database, _: &'a Services) -> QueryOutput<'a>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let page = browse_page(database, self.table, &self.page).await?;
            Ok(to_raw_value(&page)?)
        })
    }
}

/// The first event of a subject, in a read model whose rows are events.
pub(super) struct FirstEventQuery<'t> {
    pub(super) table: &'t Table,
    pub(super) subject: Subject,
}

impl ErasedQuery for FirstEventQuery<'_> {
    fn run<'a>(self: Box<Self>, database: &'a Database, _: &'a Services) -> QueryOutput<'a>
    where
        Self: 'a,
    {
        Box::pin(async move {
            let row = find_first_by_subject(database, self.table, &self.subject).await?;
            row.ok_or(QueryError::NotFound)
        })
    }
}
