//! Queries over HTTP: `GET` of what the read models hold.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        Query, RawPathParams, State,
        rejection::{QueryRejection, RawPathParamsRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get},
};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{HttpContext, Problem, command::EVENT_POSITION, limits::ConcurrencyLimit, live, path};
use crate::{
    event::{EventId, Subject},
    projection::Table,
    query::{self, Parameters, QueryDescriptor, QueryError, Route, RouteKind},
    store::newest_id,
};

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The route of a query.
pub(super) fn route(route: Route) -> (String, MethodRouter<Arc<HttpContext>>) {
    let names = path::parameters(&route.path).map(str::to_owned).collect();
    let mounted = path::mounted(&route.path);
    let asked = Arc::new(AskedAt {
        names,
        kind: route.kind,
    });
    let handler = async move |State(surface): State<Arc<HttpContext>>,
                              Extension(gate): Extension<ConcurrencyLimit>,
                              uri: Uri,
                              in_path: InPath,
                              in_query: InQuery,
                              headers: HeaderMap| {
        let _permit = gate.acquire()?;
        // What is no text leads nowhere.
        let in_path = in_path.map_err(|_| Problem::no_such_row(uri.path()))?;
        let parameters = asked.parameters(&in_path, in_query)?;
        let question = live::Question {
            asked: Arc::clone(&asked),
            surface,
            uri,
            parameters,
            headers,
        };
        match live::is_asked_for(&question.headers) {
            true => live::respond(question).await,
            false => Ok(respond(&question.answer().await?, &question.headers)),
        }
    };
    (mounted, get(handler))
}

type InPath = Result<RawPathParams, RawPathParamsRejection>;
type InQuery = Result<Query<Vec<(String, String)>>, QueryRejection>;

enum Refused {
    Query(QueryError),
    Problem(Problem),
}

impl From<QueryError> for Refused {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// What is asked, and the names of its path's parameters.
pub(super) struct AskedAt {
    names: Vec<String>,
    kind: RouteKind,
}

impl AskedAt {
    fn parameters(
        &self,
        in_path: &RawPathParams,
        in_query: InQuery,
    ) -> Result<Parameters, Problem> {
        let Query(pairs) = in_query.map_err(|_| malformed_parameters())?;
        // What finds the rows that are events has no parameters of its own.
        let values = in_path.iter().map(|(_, value)| value.to_owned());
        let in_path = match self.kind {
            RouteKind::Find(_) => Vec::new(),
            RouteKind::Query(_) | RouteKind::Browse(_) => {
                self.names.iter().cloned().zip(values).collect()
            }
        };
        Ok(Parameters::new(in_path.into_iter().chain(pairs))?)
    }

    /// The tables that it is answered from; none for all of them.
    pub(super) fn tables(&self) -> &[&'static str] {
        match &self.kind {
            RouteKind::Query(query) => query.tables,
            RouteKind::Browse(table) | RouteKind::Find(table) => {
                std::slice::from_ref(&table.model.name)
            }
        }
    }

    pub(super) async fn answer(
        &self,
        surface: &HttpContext,
        uri: &Uri,
        parameters: Parameters,
        headers: &HeaderMap,
    ) -> Result<Box<RawValue>, Problem> {
        let json = match &self.kind {
            RouteKind::Query(query) => answer(query, surface, parameters, headers).await,
            RouteKind::Browse(table) => browse(table, surface, parameters, headers).await,
            RouteKind::Find(table) => find(table, surface, uri, headers).await,
        };
        json.map_err(|refused| match refused {
            Refused::Query(QueryError::NotFound) => Problem::no_such_row(uri.path()),
            Refused::Query(error) => error.into(),
            Refused::Problem(problem) => problem,
        })
    }
}

fn malformed_parameters() -> Problem {
    let message = "is malformed: write name=value pairs with & between them";
    QueryError::invalid("list", message).into()
}

async fn answer(
    query: &QueryDescriptor,
    surface: &HttpContext,
    parameters: Parameters,
    headers: &HeaderMap,
) -> Result<Box<RawValue>, Refused> {
    let asked = (query.parse)(parameters).map_err(|error| match error {
        // A path that holds no key leads nowhere.
        QueryError::Invalid { parameter, .. } if is_in_path(query.path, &parameter) => {
            QueryError::NotFound
        }
        error => error,
    })?;
    await_position(surface, query.tables, headers).await?;
    Ok(asked.answer(&surface.database, surface.clock.now()).await?)
}

fn is_in_path(path: &str, parameter: &str) -> bool {
    path::parameters(path).any(|name| name == parameter)
}

async fn browse(
    table: &Table,
    surface: &HttpContext,
    parameters: Parameters,
    headers: &HeaderMap,
) -> Result<Box<RawValue>, Refused> {
    await_position(surface, &[table.model.name], headers).await?;
    let page = query::browse(&surface.database, table, parameters).await?;
    Ok(serde_json::value::to_raw_value(&page).map_err(QueryError::from)?)
}

async fn find(
    table: &Table,
    surface: &HttpContext,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Box<RawValue>, Refused> {
    await_position(surface, &[table.model.name], headers).await?;
    // What cannot be a subject was never written about.
    let Ok(subject) = uri.path().parse::<Subject>() else {
        return Err(QueryError::NotFound.into());
    };
    let row = query::find(&surface.database, table, &subject).await?;
    Ok(row.ok_or(QueryError::NotFound)?)
}

/// `200` with the answer, or `304` if the caller has it already.
fn respond(json: &RawValue, headers: &HeaderMap) -> Response {
    let tag = entity_tag(json.get());
    let is_known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(|known| known.trim().trim_start_matches("W/"))
        .any(|known| known == "*" || known == tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = [(header::CONTENT_TYPE, "application/json")];
        (content_type, json.get().to_owned()).into_response()
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    let vary = HeaderValue::from_static("accept");
    response.headers_mut().insert(header::VARY, vary);
    // The answer may be another one at once; a cache has to ask.
    let no_cache = HeaderValue::from_static("no-cache");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_cache);
    response
}

fn entity_tag(body: &str) -> String {
    format!("\"{}\"", digest(body))
}

/// 32 hexadecimal digits that tell answers apart.
pub(super) fn digest(body: &str) -> String {
    let hash = Sha256::digest(body.as_bytes());
    let first = hash.iter().take(16);
    first.map(|byte| format!("{byte:02x}")).collect()
}

/// So far a read model may be behind before the event store is asked whether there is an event at all
/// that its readers wait for.
const GRACE: Duration = Duration::from_millis(20);
/// An event store that answers later leaves it open whether there is an event.
const LOOK_LIMIT: Duration = Duration::from_secs(2);

/// Waits until the read models are rebuilt and have seen the event that the caller names, if any,
/// so that callers read what they wrote.
async fn await_position(
    surface: &HttpContext,
    tables: &[&str],
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let position = headers
        .get(EVENT_POSITION)
        .map(parse_position)
        .transpose()?;
    let longest = surface.limits.position_wait;
    let wait = preferred_wait(headers).map_or(longest, |preferred| preferred.min(longest));
    let grace = wait.min(GRACE);
    if surface
        .positions
        .reach(tables, position, grace)
        .await
        .is_ok()
    {
        return Ok(());
    }
    if let Some(position) = position {
        check_is_there(surface, position).await?;
    }
    let rest = wait.saturating_sub(grace);
    Ok(surface.positions.reach(tables, position, rest).await?)
}

/// Nobody waits for an event that there is not.
async fn check_is_there(surface: &HttpContext, position: EventId) -> Result<(), Problem> {
    let store = &*surface.health.store;
    match tokio::time::timeout(LOOK_LIMIT, newest_id(store)).await {
        Ok(Ok(newest)) if newest < Some(position) => Err(Problem::no_such_event(position)),
        _ => Ok(()),
    }
}

fn parse_position(value: &HeaderValue) -> Result<EventId, Problem> {
    let id = value.to_str().ok().and_then(|text| text.parse().ok());
    id.ok_or_else(|| {
        let detail = "must be an event id, as a command's answer gives it";
        Problem::invalid_header("Event-Position", detail)
    })
}

/// How many seconds the caller would wait: `Prefer: wait=2` (RFC 7240, section 4.3). Preferences
/// that make no sense are passed over, as the RFC says.
fn preferred_wait(headers: &HeaderMap) -> Option<Duration> {
    headers
        .get_all(PREFER)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split([',', ';']))
        .filter_map(|preference| preference.trim().split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"))
        .and_then(|(_, seconds)| seconds.trim().trim_matches('"').parse().ok())
        .map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_says_how_long_it_would_wait() {
        let wait = |value: &'static str| {
            let headers = HeaderMap::from_iter([(PREFER, HeaderValue::from_static(value))]);
            preferred_wait(&headers)
        };
        assert_eq!(wait("wait=2"), Some(Duration::from_secs(2)));
        assert_eq!(wait("respond-async, Wait=0"), Some(Duration::ZERO));
        assert_eq!(wait("wait=soon"), None);
        assert_eq!(wait("return=minimal"), None);
    }

    #[test]
    fn a_tag_follows_the_body() {
        assert_eq!(entity_tag("{}"), entity_tag("{}"));
        assert_ne!(entity_tag("{}"), entity_tag("[]"));
    }
}
