//! Each request is measured, under the route that it found and never under its path.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
    time::Instant,
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::Response,
};
use metrics::{Gauge, Histogram};

use crate::metrics::{HTTP_DURATION, HTTP_IN_FLIGHT, Handles, gauge, histogram};

/// The route of a request that found none.
const UNMATCHED: &str = "unmatched";
/// The status of a request whose client went away before the answer.
const ABORTED: &str = "aborted";

static IN_FLIGHT: LazyLock<Gauge> = LazyLock::new(|| gauge(&HTTP_IN_FLIGHT, &[]));

/// The templates of routes, as they were declared, by the paths that they are mounted at.
#[derive(Debug, Clone, Default)]
pub(super) struct Templates(Arc<HashMap<String, Arc<str>>>);

/// Method, route and status.
type Key = (&'static str, Arc<str>, Option<StatusCode>);

static DURATIONS: LazyLock<Handles<Key, Histogram>> = LazyLock::new(Handles::default);

impl Templates {
    pub(super) fn new(routes: impl IntoIterator<Item = (String, String)>) -> Self {
        let declared = |(mounted, template): (String, String)| (mounted, template.into());
        Self(Arc::new(routes.into_iter().map(declared).collect()))
    }

    fn of(&self, request: &Request) -> Arc<str> {
        let Some(mounted) = request.extensions().get::<MatchedPath>() else {
            return UNMATCHED.into();
        };
        let declared = self.0.get(mounted.as_str()).cloned();
        declared.unwrap_or_else(|| mounted.as_str().into())
    }
}

/// A request that is being answered.
struct Observed {
    method: &'static str,
    route: Arc<str>,
    status: Option<StatusCode>,
    begin: Instant,
}

pub(super) async fn observe(
    State(templates): State<Templates>,
    request: Request,
    next: Next,
) -> Response {
    let mut observed = Observed::begin(templates.of(&request), request.method());
    let response = next.run(request).await;
    observed.status = Some(response.status());
    response
}

impl Observed {
    fn begin(route: Arc<str>, method: &Method) -> Self {
        IN_FLIGHT.increment(1);
        Self {
            method: known(method),
            route,
            status: None,
            begin: Instant::now(),
        }
    }
}

/// Also where the client went away and nobody asks for the answer any more.
impl Drop for Observed {
    fn drop(&mut self) {
        IN_FLIGHT.decrement(1);
        let key = (self.method, Arc::clone(&self.route), self.status);
        let duration = self.begin.elapsed();
        DURATIONS.with(key, register, |histogram| histogram.record(duration));
    }
}

fn register((method, route, status): &Key) -> Histogram {
    let status = status.as_ref().map_or(ABORTED, StatusCode::as_str);
    let labels = [("method", *method), ("route", route), ("status", status)];
    histogram(&HTTP_DURATION, &labels)
}

/// A method may be any word; those that nobody knows are one.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
