//! The attempts of one transaction.

use std::time::{Duration, Instant};

use super::database_error::{DatabaseError, Remedy};

/// The first and the longest pause before a failed transaction is repeated.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// The attempts of one transaction.
pub(super) struct RetrySchedule {
    begun: Instant,
    limit: Duration,
    pause: Duration,
}

impl RetrySchedule {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            begun: Instant::now(),
            limit,
            pause: PAUSES.0,
        }
    }

    /// Waits for the next attempt. Returns false if the error is final or the time is over.
    pub(super) async fn wait(&mut self, error: &DatabaseError) -> bool {
        if error.remedy() == Remedy::GiveUp || self.begun.elapsed() >= self.limit {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = self.pause.saturating_mul(2).min(PAUSES.1);
        true
    }
}
