//! The share of one caller in the expensive statements of a database.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{DatabaseError, QueryCost};

/// The time that a statement waits for the other statements of its caller.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The share of one caller in the statements that a database runs at once. Clones share it. A statement that
/// exceeds the share waits for the caller's other statements, and not in front of the statements of others.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct CallerShare {
    permits: Arc<Semaphore>,
    size: u32,
}

impl CallerShare {
    /// Creates a share of this many statements that read pages, or half as many that count or group rows.
    #[must_use]
    pub fn new(statements: u32) -> Self {
        let size = statements.max(1);
        let permits = usize::try_from(size).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            size,
        }
    }

    /// Waits until the statement fits into the share.
    pub(super) async fn acquire(
        &self,
        cost: QueryCost,
    ) -> Result<OwnedSemaphorePermit, DatabaseError> {
        // A small share still runs one statement of each kind.
        let weight = cost.weight().min(self.size);
        let permits = Arc::clone(&self.permits).acquire_many_owned(weight);
        match timeout(ACQUIRE_TIMEOUT, permits).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(DatabaseError::ShareInUse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_statement_waits_for_others_of_its_caller() {
        let share = CallerShare::new(3);
        let counting = share.acquire(QueryCost::Aggregate).await.unwrap();
        let _page = share.acquire(QueryCost::Page).await.unwrap();
        let third = timeout(Duration::from_millis(20), share.acquire(QueryCost::Page));
        assert!(third.await.is_err(), "it waits");
        assert!(
            share.acquire(QueryCost::Lookup).await.is_ok(),
            "a lookup is free"
        );
        drop(counting);
        assert!(share.acquire(QueryCost::Aggregate).await.is_ok());
    }

    #[tokio::test]
    async fn the_smallest_share_still_counts_rows() {
        let share = CallerShare::new(0);
        assert!(share.acquire(QueryCost::Aggregate).await.is_ok());
    }
}
