//! The metrics of the commits of an event store that writes in batches.

use std::{sync::LazyLock, time::Duration};

use metrics::Histogram;

use super::{STORE_COMMIT_APPENDS, STORE_COMMIT_DURATION, STORE_COMMIT_EVENTS, histogram};

/// The histograms of commits.
struct CommitMetrics {
    duration: Histogram,
    events: Histogram,
    appends: Histogram,
}

static COMMITS: LazyLock<CommitMetrics> = LazyLock::new(|| CommitMetrics {
    duration: histogram(&STORE_COMMIT_DURATION, &[]),
    events: histogram(&STORE_COMMIT_EVENTS, &[]),
    appends: histogram(&STORE_COMMIT_APPENDS, &[]),
});

/// Records the time of a commit and the sizes of its batch.
#[doc(hidden)]
pub fn record_commit(duration: Duration, events: usize, appends: usize) {
    // More than 2^32 events do not fit into one batch.
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    COMMITS.duration.record(duration);
    COMMITS.events.record(number(events));
    COMMITS.appends.record(number(appends));
}
