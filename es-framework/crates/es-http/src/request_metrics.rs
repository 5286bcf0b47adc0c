//! Measures and logs each request under the path of its route, such as `/books/{id}`.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request},
    http::{Method, StatusCode},
    middleware::Next,
    response::Response,
};
use es_event::TraceContext;
use es_observe::{
    metrics::{
        RegisteredMetrics,
        catalogue::{HTTP_DURATION, HTTP_IN_FLIGHT},
        gauge, histogram,
    },
    telemetry::traces,
};
use metrics::{Gauge, Histogram};
use tracing::{Instrument as _, Span};

use super::{auth::VerifiedCaller, context};

/// The route in the log and the metrics of a request that no route matches.
const UNMATCHED: &str = "unmatched";
/// The status of a request whose client disconnected before the response.
const ABORTED: &str = "aborted";

/// The duration from which on a request is slow.
const SLOW: Duration = Duration::from_secs(1);

static IN_FLIGHT: LazyLock<Gauge> = LazyLock::new(|| gauge(&HTTP_IN_FLIGHT, &[]));

/// The declared paths of routes, by the paths in the router.
#[derive(Debug, Clone, Default)]
pub(super) struct RouteTemplates(Arc<HashMap<String, Arc<str>>>);

/// The labels of a measurement: method, route and status.
type RequestLabels = (&'static str, Arc<str>, Option<StatusCode>);

static DURATIONS: LazyLock<RegisteredMetrics<RequestLabels, Histogram>> =
    LazyLock::new(RegisteredMetrics::default);

impl RouteTemplates {
    pub(super) fn new(routes: impl IntoIterator<Item = (String, String)>) -> Self {
        let declared = |(mounted, template): (String, String)| (mounted, template.into());
        Self(Arc::new(routes.into_iter().map(declared).collect()))
    }

    /// Returns the declared path of a request's route.
    fn find(&self, request: &Request) -> Arc<str> {
        let Some(mounted) = request.extensions().get::<MatchedPath>() else {
            return UNMATCHED.into();
        };
        let declared = self.0.get(mounted.as_str()).cloned();
        declared.unwrap_or_else(|| mounted.as_str().into())
    }
}

/// The measurement of a request that is in progress. It ends when the value is dropped.
struct MeasuredRequest {
    method: &'static str,
    route: Arc<str>,
    status: Option<StatusCode>,
    caller: Option<VerifiedCaller>,
    trace: Option<TraceContext>,
    begin: Instant,
}

/// Runs the handler of a request, and measures, traces and logs the request.
pub(super) async fn measure_request(
    templates: &RouteTemplates,
    request: Request,
    next: Next,
) -> Response {
    let mut measured = MeasuredRequest::begin(templates.find(&request), &request);
    let span = measured.span();
    let response = next.run(request).instrument(span.clone()).await;
    measured.caller = response.extensions().get().cloned();
    measured.answered(response.status(), &span);
    response
}

impl MeasuredRequest {
    /// Starts the measurement, and counts the request as in progress.
    fn begin(route: Arc<str>, request: &Request) -> Self {
        IN_FLIGHT.increment(1);
        Self {
            method: method_name(request.method()),
            route,
            status: None,
            caller: None,
            trace: context::read_trace(request.headers()),
            begin: Instant::now(),
        }
    }

    /// Returns the span of the request, with the attribute names of OpenTelemetry.
    fn span(&mut self) -> Span {
        let span = tracing::info_span!(
            "request",
            otel.name = tracing::field::Empty,
            otel.kind = "server",
            otel.status_code = tracing::field::Empty,
            http.request.method = self.method,
            http.route = &*self.route,
            http.response.status_code = tracing::field::Empty,
        );
        if !span.is_disabled() {
            span.record("otel.name", format!("{} {}", self.method, self.route));
            if let Some(trace) = &self.trace {
                traces::continue_trace(&span, trace);
            }
            self.trace = traces::trace_of(&span).or(self.trace.take());
        }
        span
    }

    /// Records the status of the response.
    fn answered(&mut self, status: StatusCode, span: &Span) {
        self.status = Some(status);
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
        }
    }

    /// Writes one line to the log. The client chooses nothing in it except the id of the trace, and the
    /// caller's name only after authentication. A line for each request costs a twentieth of the rate of
    /// purchases, so the log has those of ordinary requests only at the level `debug`.
    fn log(&self, duration: Duration) {
        let said = match self.status {
            Some(_) => "request",
            None => "request whose client went away",
        };
        macro_rules! log_at {
            ($level:ident) => {
                tracing::$level!(
                    target: "es_framework::http",
                    method = self.method,
                    route = &*self.route,
                    status = self.status.as_ref().map(StatusCode::as_u16),
                    duration_ms = milliseconds(duration),
                    caller = self.caller.as_ref().map(VerifiedCaller::name),
                    trace_id = self.trace.as_ref().and_then(TraceContext::id),
                    "{said}"
                )
            };
        }
        if is_noteworthy(self.status, duration) {
            log_at!(info);
        } else {
            log_at!(debug);
        }
    }
}

/// Returns whether operators want to know of a request: it failed, its client went away, access was denied, or it
/// was slow.
fn is_noteworthy(status: Option<StatusCode>, duration: Duration) -> bool {
    let is_ordinary = |status: StatusCode| {
        let is_denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        !is_denied && !status.is_server_error()
    };
    duration >= SLOW || !status.is_some_and(is_ordinary)
}

/// Returns a duration in milliseconds, rounded to the microsecond.
fn milliseconds(duration: Duration) -> f64 {
    const TO_THE_MICROSECOND: f64 = 1e6;
    (duration.as_secs_f64() * TO_THE_MICROSECOND).round() / 1e3
}

/// Also runs if the client disconnects before the response.
impl Drop for MeasuredRequest {
    fn drop(&mut self) {
        IN_FLIGHT.decrement(1);
        let key = (self.method, Arc::clone(&self.route), self.status);
        let duration = self.begin.elapsed();
        DURATIONS.record_or_register(key, register, |histogram| histogram.record(duration));
        self.log(duration);
    }
}

/// Creates the histogram for these labels.
fn register((method, route, status): &RequestLabels) -> Histogram {
    let status = status.as_ref().map_or(ABORTED, StatusCode::as_str);
    let labels = [("method", *method), ("route", route), ("status", status)];
    histogram(&HTTP_DURATION, &labels)
}

/// Returns the name of a method. Unknown methods share one name, since a client may send any word.
fn method_name(method: &Method) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_denied_and_slow_requests_are_noteworthy() {
        let fast = Duration::from_millis(999);
        for status in [200, 201, 204, 304, 400, 404, 409, 422, 429] {
            let status = StatusCode::from_u16(status).ok();
            assert!(!is_noteworthy(status, fast), "{status:?}");
            assert!(is_noteworthy(status, SLOW), "{status:?}");
        }
        for status in [401, 403, 500, 503] {
            let status = StatusCode::from_u16(status).ok();
            assert!(is_noteworthy(status, fast), "{status:?}");
        }
        assert!(is_noteworthy(None, fast));
    }
}
