//! The attempts of one transaction.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use super::remedy::{Remedy, remedy};

/// The first and the longest pause before a failed transaction is repeated.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// The attempts of one transaction.
#[doc(hidden)]
#[derive(Debug)]
pub struct RetrySchedule {
    begun: Instant,
    limit: Duration,
    pauses: ExponentialBackoff,
}

impl RetrySchedule {
    /// Begins now. No attempt begins after this time.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        let [first, longest] = PAUSES;
        let pauses = ExponentialBuilder::new()
            .with_min_delay(first)
            .with_max_delay(longest)
            .without_max_times();
        Self {
            begun: Instant::now(),
            limit,
            pauses: pauses.build(),
        }
    }

    /// Waits for the next attempt. Returns false if the error is final or the time is over.
    pub async fn wait_after(&mut self, error: &sqlx::Error) -> bool {
        self.wait(remedy(error)).await
    }

    /// Waits for the next attempt. Returns false if the remedy is to give up, or the time is over.
    pub async fn wait(&mut self, remedy: Remedy) -> bool {
        if remedy == Remedy::GiveUp || self.begun.elapsed() >= self.limit {
            return false;
        }
        let Some(pause) = self.pauses.next() else {
            return false;
        };
        tokio::time::sleep(pause).await;
        true
    }
}
