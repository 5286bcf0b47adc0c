//! Writes whose preconditions may be queries over the whole store.

use std::{sync::Arc, time::Instant};

use tokio::time::timeout;

use super::state::{QueryLimitReached, ServerState};
use es_event::{EventCandidate, EventId, RecordedEvent};
use es_eventql::{EventQlQuery, QueryError};
use es_store::{AppendError, Conflict, Precondition, StoreError, newest_id};

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

/// The reason that the events were not written.
#[derive(Debug)]
pub(super) enum WriteFailure {
    Append(AppendError),
    /// The append did not end in time.
    UnknownOutcome,
    /// The query of a precondition failed.
    Query(QueryError),
    /// The query of a precondition has another result than one boolean.
    NotBoolean,
    /// Others keep writing while the queries run.
    Contention,
    /// The queries do not end in time.
    SlowQueries,
    /// Too many queries run already.
    TooManyQueries(QueryLimitReached),
}

/// The text of [`WriteFailure::Contention`].
pub(super) const CONTENTION: &str =
    "others keep writing while the queries of the preconditions run: try again";

/// The text of [`WriteFailure::SlowQueries`].
pub(super) const SLOW_QUERIES: &str =
    "the queries of the preconditions take too long, so nothing was written: try again";

impl From<AppendError> for WriteFailure {
    fn from(error: AppendError) -> Self {
        Self::Append(error)
    }
}

impl From<StoreError> for WriteFailure {
    fn from(error: StoreError) -> Self {
        Self::Append(error.into())
    }
}

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
    ) -> Result<Vec<RecordedEvent>, WriteFailure> {
        if self.queries.is_empty() {
            let candidates = std::mem::take(&mut self.candidates);
            let preconditions = std::mem::take(&mut self.preconditions);
            let append = append_in_time(server, candidates, preconditions).await?;
            return Ok(append.map_err(|failure| self.locate(failure))?);
        }
        let _permit = server
            .admit_query()
            .await
            .map_err(WriteFailure::TooManyQueries)?;
        let begun = Instant::now();
        for _ in 0..MAX_ATTEMPTS {
            let left = server.settings.request_time.saturating_sub(begun.elapsed());
            let checking = timeout(left, self.check_queries(server)).await;
            let end = checking.unwrap_or(Err(WriteFailure::SlowQueries))?;
            // The results hold for the store up to `end`, so the append fails if others wrote since.
            let mut preconditions = self.preconditions.clone();
            preconditions.push(Precondition::StoreIsOnEventId(end));
            match append_in_time(server, self.candidates.clone(), preconditions).await? {
                Err(AppendError::Conflict(_)) if has_grown(server, end).await? => {}
                outcome => return Ok(outcome.map_err(|failure| self.locate(failure))?),
            }
        }
        Err(WriteFailure::Contention)
    }

    /// Runs the queries. Returns the end of the store before they began.
    async fn check_queries(&self, server: &ServerState) -> Result<Option<EventId>, WriteFailure> {
        let end = newest_id(&*server.store).await?;
        let source = server.event_source();
        for (query, index) in self.queries.iter().zip(&self.query_indexes) {
            let limits = server.settings.query_limits;
            let result = query.boolean_result(Arc::clone(&source), limits);
            match result.await.map_err(WriteFailure::Query)? {
                Some(true) => {}
                Some(false) => return Err(AppendError::from(Conflict::at(*index)).into()),
                None => return Err(WriteFailure::NotBoolean),
            }
        }
        Ok(end)
    }
}

/// Returns true if others have written since the store ended there.
async fn has_grown(server: &ServerState, end: Option<EventId>) -> Result<bool, WriteFailure> {
    let newest = timeout(server.settings.request_time, newest_id(&*server.store)).await;
    Ok(newest.map_err(|_| WriteFailure::SlowQueries)?? != end)
}

/// Appends events. Fails if the store does not answer in time, after which it may still write them.
async fn append_in_time(
    server: &ServerState,
    candidates: Vec<EventCandidate>,
    preconditions: Vec<Precondition>,
) -> Result<Result<Vec<RecordedEvent>, AppendError>, WriteFailure> {
    let append = server.store.append(candidates, preconditions);
    let append = timeout(server.settings.request_time, append).await;
    append.map_err(|_| WriteFailure::UnknownOutcome)
}
