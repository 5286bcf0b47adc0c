//! A write whose preconditions may be queries over everything that is stored.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Server, error::Failure};
use crate::{
    event::{EventCandidate, RecordedEvent},
    eventql::{EventQlQuery, EventSource},
    store::{AppendError, Conflict, Precondition, newest_id},
};

/// How often queries are asked anew because others wrote meanwhile.
const ATTEMPTS: usize = 32;

/// What is to be written, and when.
#[derive(Debug, Default)]
pub(super) struct Write {
    pub(super) candidates: Vec<EventCandidate>,
    pub(super) preconditions: Vec<Precondition>,
    /// Each must yield `true`.
    pub(super) queries: Vec<EventQlQuery>,
}

impl Write {
    pub(super) async fn carry_out(self, server: &Server) -> Result<Vec<RecordedEvent>, Failure> {
        if self.queries.is_empty() {
            let written = server.store.append(self.candidates, self.preconditions);
            return Ok(written.await?);
        }
        for _ in 0..ATTEMPTS {
            let end = newest_id(&*server.store).await?;
            self.check_queries(server).await?;
            // The answer holds for the store as it was then. Written to in between, it refuses.
            let mut preconditions = self.preconditions.clone();
            preconditions.push(Precondition::StoreIsOnEventId(end));
            let written = server.store.append(self.candidates.clone(), preconditions);
            match written.await {
                Err(AppendError::Conflict(_)) if newest_id(&*server.store).await? != end => {}
                written => return Ok(written?),
            }
        }
        Err(Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many others write while the queries of the preconditions run: try again",
        ))
    }

    async fn check_queries(&self, server: &Server) -> Result<(), Failure> {
        let source: Arc<dyn EventSource> = Arc::new(Arc::clone(&server.store));
        for query in &self.queries {
            let limits = server.settings.query_limits;
            match query.yields_true(Arc::clone(&source), limits).await {
                Ok(true) => {}
                Ok(false) => return Err(AppendError::from(Conflict).into()),
                Err(error) => {
                    let text = format!("invalid request: the query of a precondition: {error}");
                    return Err(Failure::invalid(text));
                }
            }
        }
        Ok(())
    }
}
