//! Writes whose preconditions may be queries over the whole store.

use std::sync::Arc;

use super::state::{QueryLimitReached, ServerState};
use es_event::{EventCandidate, RecordedEvent};
use es_eventql::{EventQlQuery, EventSource, QueryError};
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
    /// The query of a precondition failed.
    Query(QueryError),
    /// The query of a precondition has another result than one boolean.
    NotBoolean,
    /// Others keep writing while the queries run.
    Contention,
    /// Too many queries run already.
    TooManyQueries(QueryLimitReached),
}

/// The text of [`WriteFailure::Contention`].
pub(super) const CONTENTION: &str =
    "others keep writing while the queries of the preconditions run: try again";

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

    /// Checks the conditions and appends the events.
    pub(super) async fn check_and_append(
        mut self,
        server: &ServerState,
    ) -> Result<Vec<RecordedEvent>, WriteFailure> {
        if self.queries.is_empty() {
            let candidates = std::mem::take(&mut self.candidates);
            let preconditions = std::mem::take(&mut self.preconditions);
            let append = server.store.append(candidates, preconditions).await;
            return Ok(append.map_err(|failure| self.locate(failure))?);
        }
        let _permit = server
            .admit_query()
            .await
            .map_err(WriteFailure::TooManyQueries)?;
        for _ in 0..MAX_ATTEMPTS {
            let end = newest_id(&*server.store).await?;
            self.check_queries(server).await?;
            // The results hold for the store up to `end`, so the append fails if others wrote since.
            let mut preconditions = self.preconditions.clone();
            preconditions.push(Precondition::StoreIsOnEventId(end));
            let append = server.store.append(self.candidates.clone(), preconditions);
            match append.await {
                Err(AppendError::Conflict(_)) if newest_id(&*server.store).await? != end => {}
                outcome => return Ok(outcome.map_err(|failure| self.locate(failure))?),
            }
        }
        Err(WriteFailure::Contention)
    }

    async fn check_queries(&self, server: &ServerState) -> Result<(), WriteFailure> {
        let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&server.store));
        for (query, index) in self.queries.iter().zip(&self.query_indexes) {
            let limits = server.settings.query_limits;
            let result = query.boolean_result(Arc::clone(&source), limits);
            match result.await.map_err(WriteFailure::Query)? {
                Some(true) => {}
                Some(false) => return Err(AppendError::from(Conflict::at(*index)).into()),
                None => return Err(WriteFailure::NotBoolean),
            }
        }
        Ok(())
    }
}
