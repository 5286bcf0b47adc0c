//! What a request may cost between its head and its answer.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{Problem, RequestLimits};

/// The longest path with its query, in bytes.
const MAX_ADDRESS: usize = 8 * 1024;

/// Lets so many requests at once to the store and the database. What a client is slow with, such as
/// a body, is behind a request when it passes.
#[derive(Debug, Clone)]
pub(super) struct Gate(Arc<Semaphore>);

impl Gate {
    /// A place among the requests that are carried out.
    pub(super) fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.0).try_acquire_owned();
        place.map_err(|_| Problem::too_busy())
    }
}

/// The limits and the gate that belongs to them.
#[derive(Debug, Clone)]
pub(super) struct Keeper {
    limits: RequestLimits,
    gate: Gate,
}

impl Keeper {
    pub(super) fn new(limits: RequestLimits) -> Self {
        let places = limits.requests.min(Semaphore::MAX_PERMITS);
        Self {
            limits,
            gate: Gate(Arc::new(Semaphore::new(places))),
        }
    }
}

/// Refuses what is too long, ends what takes too long, and hands on the gate.
pub(super) async fn keep(
    State(keeper): State<Keeper>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(problem) = check_head(&request, keeper.limits) {
        return problem.into_response();
    }
    request.extensions_mut().insert(keeper.gate);
    let is_safe = request.method().is_safe();
    let time = keeper.limits.request_time;
    let answer = timeout(time, next.run(request)).await;
    answer.unwrap_or_else(|_| late(is_safe, time).into_response())
}

fn check_head(request: &Request, limits: RequestLimits) -> Result<(), Problem> {
    let address = request.uri().path_and_query();
    if address.is_some_and(|address| address.as_str().len() > MAX_ADDRESS) {
        return Err(Problem::address_too_long(MAX_ADDRESS));
    }
    let headers = request.headers();
    if headers.len() > limits.header_count {
        return Err(Problem::too_many_headers(limits.header_count));
    }
    let size = headers.iter().fold(0_usize, |size, (name, value)| {
        size.saturating_add(name.as_str().len())
            .saturating_add(value.len())
    });
    match size > limits.headers_size {
        true => Err(Problem::headers_too_large(limits.headers_size)),
        false => Ok(()),
    }
}

fn late(is_safe: bool, time: Duration) -> Problem {
    match is_safe {
        true => Problem::took_too_long(time),
        false => Problem::ended_midway(time),
    }
}
