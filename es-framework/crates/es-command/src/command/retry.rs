//! The limits and pauses of the retries after a conflict.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};

use super::RandomNumbers;

/// After this many attempts the caller has to send the command again.
pub(super) const MAX_ATTEMPTS: u32 = 8;
/// The shortest pause before the second attempt. It doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(2);

/// Waits before a retry: a random time up to the double of the pause, so that two commands do not conflict again.
pub(super) async fn back_off(attempt: u32, random: &RandomNumbers) {
    let pauses = ExponentialBuilder::new()
        .with_min_delay(FIRST_PAUSE)
        .with_jitter()
        .with_jitter_seed(random.next())
        .without_max_times();
    let earlier = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    tokio::time::sleep(pauses.build().nth(earlier).unwrap_or(FIRST_PAUSE)).await;
}
