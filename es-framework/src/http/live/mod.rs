//! Live queries: the output of a query as server-sent events, sent again whenever it changes.
//! The format is that of the HTML Standard, section "Server-sent events".

mod last_seen;
mod output_stream;

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response, Sse},
};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::query::QueryRequest;
use super::{Problem, problem::kind};
use last_seen::LastSeen;
use output_stream::OutputStream;

const EVENT_STREAM: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Keeps nginx from buffering the stream.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The limits of live queries.
///
/// ```
/// use es_framework::http::LiveLimits;
///
/// let few = LiveLimits { open: 8, ..LiveLimits::default() };
/// assert_eq!(few.heartbeat.as_secs(), 15);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LiveLimits {
    /// The number of live queries that may be open at once.
    pub open: usize,
    /// The time without a new output after which the query runs again, because its output may depend
    /// on the time. If the output is the same, the client gets a comment as a heartbeat.
    pub heartbeat: Duration,
    /// The changes within this time lead to one new output.
    pub gather: Duration,
}

impl Default for LiveLimits {
    fn default() -> Self {
        Self {
            open: 64,
            heartbeat: Duration::from_secs(15),
            gather: Duration::from_millis(100),
        }
    }
}

/// The open live queries. Clones share them.
///
/// ```
/// use es_framework::http::{LiveLimits, LiveQueries};
///
/// let live = LiveQueries::new(LiveLimits::default());
/// live.clone().end(); // closes those of all clones
/// ```
#[derive(Debug, Clone)]
pub struct LiveQueries {
    limits: LiveLimits,
    permits: Arc<Semaphore>,
    is_over: Arc<watch::Sender<bool>>,
}

impl LiveQueries {
    /// Starts without an open live query.
    #[must_use]
    pub fn new(limits: LiveLimits) -> Self {
        Self {
            limits,
            permits: Arc::new(Semaphore::new(limits.open.min(Semaphore::MAX_PERMITS))),
            is_over: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Closes all of them, and each one that opens later. Clients reconnect by themselves, to an
    /// instance that keeps running.
    pub fn end(&self) {
        self.is_over.send_replace(true);
    }

    /// Returns the number of open live queries.
    pub(super) fn open(&self) -> f64 {
        let open = self
            .limits
            .open
            .saturating_sub(self.permits.available_permits());
        u32::try_from(open).map_or(f64::INFINITY, f64::from)
    }

    fn acquire_permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        permit.map_err(|_| {
            let detail = format!(
                "{} are open at once at the most: try again later, or ask without Accept: {EVENT_STREAM}",
                self.limits.open
            );
            Problem::new(kind::TOO_MANY_LIVE_QUERIES, detail)
        })
    }
}

/// Whether the caller requests a live query.
pub(super) fn is_requested(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.flat_map(|list| list.split(',')).any(|range| {
        let media_type = range.split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case(EVENT_STREAM)
    })
}

/// Responds with the stream of outputs, the first one at once.
pub(super) async fn respond(request: QueryRequest) -> Result<Response, Problem> {
    let permit = request.surface.live.acquire_permit()?;
    let seen = LastSeen::from_headers(&request.headers)?;
    let outputs = OutputStream::open(request, seen, permit).await?;
    let mut response = Sse::new(stream::unfold(outputs, OutputStream::next)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
