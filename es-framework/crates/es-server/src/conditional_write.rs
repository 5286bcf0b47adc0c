//! Writes whose preconditions may be queries over the whole store.

use std::time::Instant;

use tokio::time::timeout;

use super::{api_error::ApiError, error_code::ErrorCode, state::ServerState};
use es_event::{EventCandidate, EventId, RecordedEvent};
use es_eventql::EventQlQuery;
use es_store::{AppendError, Conflict, Precondition, newest_id};

/// The number of attempts before the write fails, if others write while its queries run.
const MAX_ATTEMPTS: usize = 32;

/// Events to write, and the conditions under which the store accepts them.
#[derive(Debug, Default)]
pub(super) struct ConditionalWrite {
    pub(super) candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
    /// Queries that must all yield `true`.
    queries: Vec<EventQlQuery>,
    /// The indexes that the preconditions have in the request.
    precondition_indexes: Vec<usize>,
    /// The indexes that the queries have in the request.
    query_indexes: Vec<usize>,
}

/// The text for a write during which others keep writing.
const CONTENTION: &str =
    "others keep writing while the queries of the preconditions run: try again";

/// The text for queries that do not end in time.
const SLOW_QUERIES: &str =
    "the queries of the preconditions take too long, so nothing was written: try again";

impl ConditionalWrite {
    pub(super) fn new(candidates: Vec<EventCandidate>) -> Self {
        Self {
            candidates,
            ..Self::default()
        }
    }

    /// Adds the next precondition of the request.
    pub(super) fn require(&mut self, precondition: Precondition) {
        self.precondition_indexes.push(self.conditions());
        self.preconditions.push(precondition);
    }

    /// Adds the next precondition of the request, which is a query.
    pub(super) fn require_query(&mut self, query: EventQlQuery) {
        self.query_indexes.push(self.conditions());
        self.queries.push(query);
    }

    fn conditions(&self) -> usize {
        self.preconditions.len().saturating_add(self.queries.len())
    }

    /// Names the precondition of the request that a store reported by its position in the append.
    fn locate(&self, failure: AppendError) -> AppendError {
        let AppendError::Conflict(conflict) = failure else {
            return failure;
        };
        let index = conflict.precondition;
        let precondition = index.and_then(|index| self.precondition_indexes.get(index).copied());
        Conflict { precondition }.into()
    }

    /// Checks the conditions and appends the events. The queries have the time of a request, and so has each
    /// append: its outcome is unknown after that time, but a slow query has written nothing.
    pub(super) async fn check_and_append(
        mut self,
        server: &ServerState,
    ) -> Result<Vec<RecordedEvent>, ApiError> {
        if self.queries.is_empty() {
            let candidates = std::mem::take(&mut self.candidates);
            let preconditions = std::mem::take(&mut self.preconditions);
            let append = append_in_time(server, candidates, preconditions).await?;
            return Ok(append.map_err(|failure| self.locate(failure))?);
        }
        let _permit = server.admit_query().await?;
        let begun = Instant::now();
        for _ in 0..MAX_ATTEMPTS {
            let left = server.settings.request_time.saturating_sub(begun.elapsed());
            let checking = timeout(left, self.check_queries(server)).await;
            let end = checking.unwrap_or_else(|_| Err(ApiError::unavailable(SLOW_QUERIES)))?;
            // The results hold for the store up to `end`, so the append fails if others wrote since.
            let mut preconditions = self.preconditions.clone();
            preconditions.push(Precondition::StoreIsOnEventId(end));
            match append_in_time(server, self.candidates.clone(), preconditions).await? {
                Err(AppendError::Conflict(_)) if has_grown(server, end).await? => {}
                outcome => return Ok(outcome.map_err(|failure| self.locate(failure))?),
            }
        }
        Err(ApiError::unavailable(CONTENTION))
    }

    /// Runs the queries. Returns the end of the store before they began.
    async fn check_queries(&self, server: &ServerState) -> Result<Option<EventId>, ApiError> {
        let newest = newest_id(&*server.store).await;
        let end = newest.map_err(|error| ApiError::nothing_stored(&error))?;
        for (query, index) in self.queries.iter().zip(&self.query_indexes) {
            let limits = server.settings.query_limits;
            let running = query.boolean_result(server.store.clone(), limits);
            let result = running.await;
            match result.map_err(|error| ApiError::failed_precondition(&error))? {
                Some(true) => {}
                Some(false) => return Err(Conflict::at(*index).into()),
                None => return Err(not_boolean()),
            }
        }
        Ok(end)
    }
}

/// Returns the error for the query of a precondition with another result than one boolean.
fn not_boolean() -> ApiError {
    let text = "the query of a precondition must yield one row with a boolean";
    ApiError::from(Conflict::default()).with_code(ErrorCode::QueryNotBoolean, text)
}

/// Returns true if others have written since the store ended there.
async fn has_grown(server: &ServerState, end: Option<EventId>) -> Result<bool, ApiError> {
    let read = timeout(server.settings.request_time, newest_id(&*server.store)).await;
    let answer = read.map_err(|_| ApiError::unavailable(SLOW_QUERIES))?;
    let newest = answer.map_err(|error| ApiError::nothing_stored(&error))?;
    Ok(newest != end)
}

/// Appends events. Fails if the store does not answer in time, after which it may still write them.
async fn append_in_time(
    server: &ServerState,
    candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
) -> Result<Result<Vec<RecordedEvent>, AppendError>, ApiError> {
    let append = server.store.append(candidates, preconditions);
    let appended = timeout(server.settings.request_time, append).await;
    appended.map_err(|_| ApiError::unknown_outcome())
}
