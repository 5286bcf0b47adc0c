//! Writes whose preconditions may be queries over the whole store.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{error_response::ErrorResponse, state::ServerState};
use es_event::{EventCandidate, RecordedEvent};
use es_eventql::{EventQlQuery, EventSource};
use es_store::{AppendError, Conflict, Precondition, newest_id};

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

impl ConditionalWrite {
    /// Checks the conditions and appends the events.
    pub(super) async fn execute(
        self,
        server: &ServerState,
    ) -> Result<Vec<RecordedEvent>, ErrorResponse> {
        if self.queries.is_empty() {
            let append = server.store.append(self.candidates, self.preconditions);
            return Ok(append.await?);
        }
        let _permit = server.admit_query().await?;
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
        Err(ErrorResponse::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "others keep writing while the queries of the preconditions run: try again",
        ))
    }

    async fn check_queries(&self, server: &ServerState) -> Result<(), ErrorResponse> {
        let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&server.store));
        for query in &self.queries {
            let limits = server.settings.query_limits;
            match query.yields_true(Arc::clone(&source), limits).await {
                Ok(true) => {}
                Ok(false) => return Err(AppendError::from(Conflict).into()),
                Err(error) => {
                    let text = format!("invalid request: the query of a precondition: {error}");
                    return Err(ErrorResponse::invalid(text));
                }
            }
        }
        Ok(())
    }
}
