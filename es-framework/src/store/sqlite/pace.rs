//! How long the writer waits for company. A writer that takes what is there splits its callers
//! into two halves that wait for each other's flushes.

use std::time::Duration;

/// The part of a commit's time that is spent waiting for more.
const LINGER_PART: u32 = 8;
/// However slow the disk: a caller is not kept for longer.
const LONGEST: Duration = Duration::from_millis(5);

/// What the last commits say about the next.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How long a commit takes, recent ones weighing most.
    commit: Duration,
    /// How many callers had something to write when the last batch was answered, those included.
    outstanding: usize,
}

impl Pace {
    /// A commit took this long; so many callers were answered, and so many were waiting then.
    pub(super) fn committed(&mut self, took: Duration, answered: usize, waiting: usize) {
        let weighted = self.commit.saturating_mul(7).saturating_add(took);
        self.commit = weighted.checked_div(8).unwrap_or(took);
        self.outstanding = answered.saturating_add(waiting);
    }

    /// For how many to wait, and how long at most.
    pub(super) fn linger(&self) -> (usize, Duration) {
        let part = self.commit.checked_div(LINGER_PART).unwrap_or_default();
        (self.outstanding, part.min(LONGEST))
    }
}
