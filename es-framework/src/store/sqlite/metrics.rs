//! What a commit takes, and how much goes into one.

use std::{sync::LazyLock, time::Duration};

use metrics::Histogram;

use crate::metrics::{STORE_COMMIT_APPENDS, STORE_COMMIT_DURATION, STORE_COMMIT_EVENTS, histogram};

struct Commits {
    duration: Histogram,
    events: Histogram,
    appends: Histogram,
}

static COMMITS: LazyLock<Commits> = LazyLock::new(|| Commits {
    duration: histogram(&STORE_COMMIT_DURATION, &[]),
    events: histogram(&STORE_COMMIT_EVENTS, &[]),
    appends: histogram(&STORE_COMMIT_APPENDS, &[]),
});

pub(super) fn committed(duration: Duration, events: usize, appends: usize) {
    // More than 2^32 events do not fit into one batch.
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    COMMITS.duration.record(duration);
    COMMITS.events.record(number(events));
    COMMITS.appends.record(number(appends));
}
