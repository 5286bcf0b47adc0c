//! The handle of one query: the share of its caller, and the held rows that it returns.

use tokio::sync::OwnedSemaphorePermit;

use super::{super::HeldRows, CallerShare, Database, DatabaseError, QueryCost};

impl Database {
    /// Returns a handle whose statements use the share of a caller.
    #[doc(hidden)]
    #[must_use]
    pub fn with_share(&self, share: CallerShare) -> Self {
        Self {
            share: Some(share),
            ..self.clone()
        }
    }

    /// Returns a handle that notes the held rows which a query returns.
    #[doc(hidden)]
    #[must_use]
    pub fn with_held_rows(&self, held: HeldRows) -> Self {
        Self {
            held,
            ..self.clone()
        }
    }

    /// Waits until a statement fits into the share of the caller.
    pub(super) async fn acquire_share(
        &self,
        cost: QueryCost,
    ) -> Result<Option<OwnedSemaphorePermit>, DatabaseError> {
        match &self.share {
            Some(share) => share.acquire(cost).await.map(Some),
            None => Ok(None),
        }
    }
}
