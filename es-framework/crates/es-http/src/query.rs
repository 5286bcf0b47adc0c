//! The pipeline of a query over HTTP. `query_route` receives the request. This file parses the
//! parameters, waits for the requested position, and runs the query. `query_response` or `live`
//! answers.

use std::sync::Arc;

use axum::{
    extract::{Query, RawPathParams, rejection::QueryRejection},
    http::{HeaderMap, Uri},
    response::{IntoResponse as _, Response},
};
use es_event::EventId;
use es_read::{
    projection::{Database, HeldRows},
    query::{ParsedQuery, QueryError, QueryParameters, QueryRoute, QueryRouteTarget},
};
use es_subscribe::{ProgressWatcher, SubscriberProgress};

use super::{
    HttpContext, Problem,
    caller_shares::ActiveCaller,
    event_position::wait_for_position,
    output_id::OutputId,
    path,
    query_response::{QueryOutput, mark_held_rows, ok_or_not_modified},
};

/// The parameters in the query string, as axum extracts them.
pub(super) type QueryExtraction = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// A query that a client sent. A live query runs it again and again.
pub(super) struct QueryRequest {
    route: Arc<QueryRoute>,
    pub(super) context: Arc<HttpContext>,
    uri: Uri,
    parameters: QueryParameters,
    pub(super) headers: HeaderMap,
    pub(super) caller: ActiveCaller,
    /// Runs the statements within the share of the caller.
    database: Database,
}

impl QueryRequest {
    /// Collects the parameters of a request for this route.
    pub(super) fn new(
        route: Arc<QueryRoute>,
        context: Arc<HttpContext>,
        uri: Uri,
        (in_path, in_query): (RawPathParams, QueryExtraction),
        headers: HeaderMap,
        caller: ActiveCaller,
    ) -> Result<Self, Problem> {
        let parameters = parameters(&route, &in_path, in_query)?;
        let database = context.database.with_share(caller.scans());
        Ok(Self {
            route,
            context,
            uri,
            parameters,
            headers,
            caller,
            database,
        })
    }

    /// Returns the tables that the query reads; if empty, it may read all of them.
    pub(super) fn tables(&self) -> &[&'static str] {
        match &self.route.target {
            QueryRouteTarget::Query(query) => query.tables,
            QueryRouteTarget::BrowseEvents(table) | QueryRouteTarget::FindEvent(table) => {
                std::slice::from_ref(&table.model.name)
            }
        }
    }

    /// Checks the parameters, before the read models are ready for the query.
    pub(super) fn check_parameters(&self) -> Result<(), Problem> {
        self.parse().map(drop)
    }

    /// Parses the parameters, and checks the rule about the owner.
    fn parse(&self) -> Result<ParsedQuery, Problem> {
        let (path, parameters) = (self.uri.path(), self.parameters.clone());
        let parsed = self.route.parse(path, parameters, self.caller.caller());
        parsed.map_err(|error| self.problem(error))
    }

    /// Returns the problem of this query.
    fn problem(&self, error: QueryError) -> Problem {
        match error {
            QueryError::NotFound => Problem::no_such_row(self.uri.path()),
            error => error.into(),
        }
    }

    /// Runs the query, and returns its response.
    pub(super) async fn respond(&self) -> Response {
        match self.run().await {
            Ok(output) => ok_or_not_modified(output, &self.headers),
            Err(problem) => {
                let mut response = problem.into_response();
                mark_held_rows(&mut response, self.held_rows().header_value(""));
                response
            }
        }
    }

    fn held_rows(&self) -> HeldRows {
        HeldRows::collect(self.tables(), &self.context.positions)
    }

    /// Parses the parameters, waits for the requested position, and runs the query.
    pub(super) async fn run(&self) -> Result<QueryOutput, Problem> {
        let query = self.parse()?;
        wait_for_position(&self.context, self.tables(), &self.headers).await?;
        let position = self.applied_position();
        let held = self.held_rows();
        let database = self.database.with_held_rows(held.clone());
        let services = self.context.command_resources.services();
        let ran = query(&database, services).await;
        let json = ran.map_err(|error| self.problem(error))?;
        let id = OutputId::new(held.contained_position(position), &json);
        let stopped_at = self.first_poison_event();
        Ok(QueryOutput {
            json,
            id,
            stopped_at,
            held,
        })
    }

    /// Returns the first event at which a read model of the query has stopped.
    fn first_poison_event(&self) -> Option<EventId> {
        let tables = self.tables();
        let read_models = self.context.positions.iter();
        let selected = read_models.filter(|one| tables.is_empty() || tables.contains(&one.name()));
        let poison = selected.filter_map(SubscriberProgress::poison_event);
        poison.map(|event| event.id).min()
    }

    /// Returns the last event that all rows of the query contain.
    fn applied_position(&self) -> Option<EventId> {
        ProgressWatcher::subscribe(self.tables(), &self.context.positions).applied_position()
    }
}

/// Collects the values that a request sends in its path and in its query string.
fn parameters(
    route: &QueryRoute,
    in_path: &RawPathParams,
    in_query: QueryExtraction,
) -> Result<QueryParameters, Problem> {
    let Query(in_query) = in_query.map_err(|_| malformed_parameters())?;
    let names = path::parameter_names(&route.path).map(str::to_owned);
    let values = in_path.iter().map(|(_, value)| value.to_owned());
    let in_path: Vec<_> = match route.target {
        // The whole path is the subject of the event.
        QueryRouteTarget::FindEvent(_) => Vec::new(),
        QueryRouteTarget::Query(_) | QueryRouteTarget::BrowseEvents(_) => {
            names.zip(values).collect()
        }
    };
    let is_in_path = |name: &str| in_path.iter().any(|(in_path, _)| in_path == name);
    if let Some((name, _)) = in_query.iter().find(|(name, _)| is_in_path(name)) {
        let message = "is in the path: remove it from the query string";
        return Err(QueryError::invalid(name, message).into());
    }
    Ok(QueryParameters::new(in_query)?.with_path_values(in_path)?)
}

fn malformed_parameters() -> Problem {
    let message = "is malformed: write name=value pairs with & between them";
    QueryError::invalid("list", message).into()
}
