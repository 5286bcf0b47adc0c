//! The limits of a request: size of the head, concurrency, and time.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use es_net::{has_valid_host, names_this_machine};
use percent_encoding::percent_decode_str;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{Problem, RequestLimits, caller_shares::CallerShares};

/// The longest path with its query, in bytes.
const MAX_ADDRESS: usize = 8 * 1024;

/// The part of the concurrent requests that the lines of requests with many commands may have besides.
const LINE_PART: usize = 4;

/// The number of requests with many commands that may be open at once.
const MAX_STREAMS: usize = 32;

/// Limits the number of requests that use the store and the database at once. A request acquires its
/// permit after its body is read, so a slow client holds none.
#[derive(Debug, Clone)]
pub(super) struct ConcurrencyLimit(Arc<ConcurrencyPermits>);

#[derive(Debug)]
struct ConcurrencyPermits {
    requests: Arc<Semaphore>,
    lines: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

impl ConcurrencyLimit {
    fn new(requests: usize) -> Self {
        let permits = requests.min(Semaphore::MAX_PERMITS);
        let lines = permits.checked_div(LINE_PART).unwrap_or_default().max(1);
        Self(Arc::new(ConcurrencyPermits {
            requests: Arc::new(Semaphore::new(permits)),
            lines: Arc::new(Semaphore::new(lines)),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        }))
    }

    /// Acquires a permit, or refuses the request if all are taken.
    pub(super) fn try_acquire(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.0.requests).try_acquire_owned();
        permit.map_err(|_| Problem::too_busy())
    }

    /// Acquires the permit of a request with many commands, or refuses it if too many are open.
    pub(super) fn try_acquire_stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.0.streams).try_acquire_owned();
        permit.map_err(|_| Problem::too_busy())
    }

    /// Waits for the permit of a line. The requests of others have permits of their own, so they never wait for lines.
    pub(super) async fn acquire_line(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.lines).acquire_owned().await.ok()
    }
}

/// The limits that [`enforce_limits`] enforces for each request.
#[derive(Debug, Clone)]
pub(super) struct EnforcedLimits {
    limits: RequestLimits,
    local_hosts_only: bool,
    concurrency: ConcurrencyLimit,
    shares: CallerShares,
}

impl EnforcedLimits {
    pub(super) fn new(limits: RequestLimits, local_hosts_only: bool, shares: CallerShares) -> Self {
        Self {
            limits,
            local_hosts_only,
            concurrency: ConcurrencyLimit::new(limits.requests),
            shares,
        }
    }
}

/// Refuses a request whose head is too long, has a path that is no text or names another host, ends a request that takes too long, and hands
/// the concurrency limit and the shares of callers to the routes.
pub(super) async fn enforce_limits(
    State(limiter): State<EnforcedLimits>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(problem) = check_head(&request, &limiter) {
        return problem.into_response();
    }
    request.extensions_mut().insert(limiter.concurrency);
    request.extensions_mut().insert(limiter.shares);
    let is_safe = request.method().is_safe();
    let time = limiter.limits.request_time;
    let answer = timeout(time, next.run(request)).await;
    answer.unwrap_or_else(|_| timeout_problem(is_safe, time).into_response())
}

fn check_head(request: &Request, limiter: &EnforcedLimits) -> Result<(), Problem> {
    let limits = limiter.limits;
    let address = request.uri().path_and_query();
    if address.is_some_and(|address| address.as_str().len() > MAX_ADDRESS) {
        return Err(Problem::address_too_long(MAX_ADDRESS));
    }
    // Such a path names nothing. Routes whose parameters are texts need not say so.
    let path = request.uri().path();
    if path.contains('%') && percent_decode_str(path).decode_utf8().is_err() {
        return Err(Problem::no_such_row(path));
    }
    if !has_valid_host(request) {
        return Err(Problem::invalid_header(
            "Host",
            "must be there exactly once",
        ));
    }
    if limiter.local_hosts_only && !names_this_machine(request) {
        return Err(Problem::foreign_host());
    }
    let headers = request.headers();
    if headers.len() > limits.header_count {
        return Err(Problem::too_many_headers(limits.header_count));
    }
    let sizes = headers
        .iter()
        .flat_map(|(name, value)| [name.as_str().len(), value.len()]);
    let size: usize = sizes.sum();
    if size > limits.headers_size {
        return Err(Problem::headers_too_large(limits.headers_size));
    }
    Ok(())
}

/// Returns the problem of a request that took too long. The outcome of one that changes something is
/// unknown.
fn timeout_problem(is_safe: bool, time: Duration) -> Problem {
    if is_safe {
        Problem::took_too_long(time)
    } else {
        Problem::ended_midway(time)
    }
}
