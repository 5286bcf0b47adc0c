//! The delay of group commit. A writer that takes only the appends that already wait splits its
//! callers into two halves, and each half waits for the flush of the other.

use std::time::Duration;

/// The share of a commit's time that the writer lingers: one eighth.
const LINGER_SHARE: u32 = 8;
/// The longest delay, however slow the disk is.
const MAX_LINGER: Duration = Duration::from_millis(5);

/// Computes how long the writer lingers for more appends, from the latest commits.
#[derive(Debug, Default)]
pub struct CommitLinger {
    /// The moving average of the time that a commit takes.
    commit_time: Duration,
    /// The number of appends that were in the last batch or waited when it was answered.
    outstanding: usize,
}

impl CommitLinger {
    /// Records a commit: its time, its appends, and the appends that waited when it ended.
    pub fn record_commit(&mut self, time: Duration, appends: usize, waiting: usize) {
        let weighted = self.commit_time.saturating_mul(7).saturating_add(time);
        self.commit_time = weighted.checked_div(8).unwrap_or(time);
        self.outstanding = appends.saturating_add(waiting);
    }

    /// Returns the number of appends to wait for, and the longest time to wait for them.
    pub fn target(&self) -> (usize, Duration) {
        let share = self.commit_time.checked_div(LINGER_SHARE);
        (self.outstanding, share.unwrap_or_default().min(MAX_LINGER))
    }
}
