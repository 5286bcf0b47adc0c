//! Live queries: the answer of a query as server-sent events, and a new one whenever it changes.
//! The format is that of the HTML Standard, section "Server-sent events".

mod answers;
mod last_seen;

use std::{sync::Arc, time::Duration};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response, Sse},
};
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::{Problem, problem::kind};
use answers::Answers;
pub(super) use answers::Question;
use last_seen::LastSeen;

const EVENT_STREAM: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Keeps nginx from holding answers back.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Bounds on live queries.
///
/// ```
/// use es_framework::http::LiveLimits;
///
/// let few = LiveLimits { open: 8, ..LiveLimits::default() };
/// assert_eq!(few.heartbeat.as_secs(), 15);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LiveLimits {
    /// How many may be open at once.
    pub open: usize,
    /// After so long without a new answer a client is sent a sign of life, and the query is asked
    /// anew: its answer may depend on the time.
    pub heartbeat: Duration,
    /// What happens within this time makes one new answer.
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

/// The live queries that are open. Clones share them.
///
/// ```
/// use es_framework::http::{LiveLimits, LiveQueries};
///
/// let live = LiveQueries::new(LiveLimits::default());
/// live.clone().end(); // ends those of all clones
/// ```
#[derive(Debug, Clone)]
pub struct LiveQueries {
    limits: LiveLimits,
    places: Arc<Semaphore>,
    is_over: Arc<watch::Sender<bool>>,
}

impl LiveQueries {
    /// None is open yet.
    #[must_use]
    pub fn new(limits: LiveLimits) -> Self {
        Self {
            limits,
            places: Arc::new(Semaphore::new(limits.open.min(Semaphore::MAX_PERMITS))),
            is_over: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Ends all of them, and each that is opened from now on. Clients connect anew by themselves,
    /// to an instance that goes on.
    pub fn end(&self) {
        self.is_over.send_replace(true);
    }

    /// How many are open.
    pub(super) fn open(&self) -> f64 {
        let open = self
            .limits
            .open
            .saturating_sub(self.places.available_permits());
        u32::try_from(open).map_or(f64::INFINITY, f64::from)
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| {
            let detail = format!(
                "{} are open at once at the most: try again later, or ask without Accept: {EVENT_STREAM}",
                self.limits.open
            );
            Problem::new(kind::TOO_MANY_LIVE_QUERIES, detail)
        })
    }
}

/// Whether the caller wants to be told of new answers.
pub(super) fn is_asked_for(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.flat_map(|list| list.split(',')).any(|range| {
        let media_type = range.split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case(EVENT_STREAM)
    })
}

/// The answers, the first one at once.
pub(super) async fn respond(question: Question) -> Result<Response, Problem> {
    let place = question.surface.live.place()?;
    let seen = LastSeen::of(&question.headers)?;
    let answers = Answers::begin(question, seen, place).await?;
    let mut response = Sse::new(stream::unfold(answers, Answers::next)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
