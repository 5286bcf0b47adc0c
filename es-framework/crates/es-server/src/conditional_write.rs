//! Writes whose preconditions may be queries over the whole store.

use std::sync::Arc;

use super::state::{QueryLimitReached, ServerState};
use es_event::{EventCandidate, RecordedEvent};
use es_eventql::{EventQlQuery, EventSource, QueryError};
use es_store::{AppendError, Conflict, Precondition, StoreError, newest_id};

/// The number of times that queries run, because others wrote in between.
const MAX_ATTEMPTS: usize = 32;

/// Events to write, and the conditions under which the store accepts them.
#[derive(Debug, Default)]
pub(super) struct ConditionalWrite {
    pub(super) candidates: Vec<EventCandidate>,
    pub(super) preconditions: Vec<Precondition>,
    /// Queries that must all yield `true`.
    pub(super) queries: Vec<EventQlQuery>,
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
    /// Checks the conditions and appends the events.
    pub(super) async fn execute(
        self,
        server: &ServerState,
    ) -> Result<Vec<RecordedEvent>, WriteFailure> {
        if self.queries.is_empty() {
            let append = server.store.append(self.candidates, self.preconditions);
            return Ok(append.await?);
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
                outcome => return Ok(outcome?),
            }
        }
        Err(WriteFailure::Contention)
    }

    async fn check_queries(&self, server: &ServerState) -> Result<(), WriteFailure> {
        let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&server.store));
        for query in &self.queries {
            let limits = server.settings.query_limits;
            let result = query.boolean_result(Arc::clone(&source), limits);
            match result.await.map_err(WriteFailure::Query)? {
                Some(true) => {}
                Some(false) => return Err(AppendError::from(Conflict).into()),
                None => return Err(WriteFailure::NotBoolean),
            }
        }
        Ok(())
    }
}
