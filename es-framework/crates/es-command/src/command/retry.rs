//! The limits and pauses of the retries after a conflict.

use std::time::Duration;

use super::RandomNumbers;
use crate::state::CachePolicy;

/// After this many attempts the caller has to send the command again.
pub(super) const MAX_ATTEMPTS: u32 = 8;
/// After this many attempts the cached states are not used any more. They are wrong if the event
/// store was restored from a backup.
const ATTEMPTS_WITH_CACHE: u32 = 3;
/// The longest pause before the second attempt. The limit doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(4);

/// Decides whether an attempt may start from cached states. The first attempt has the number 0.
pub(super) const fn cache_policy(attempt: u32) -> CachePolicy {
    if attempt < ATTEMPTS_WITH_CACHE {
        CachePolicy::Use
    } else {
        CachePolicy::Bypass
    }
}

/// Waits a random time before an attempt, so that two conflicting commands do not meet again.
pub(super) async fn back_off(attempt: u32, random: &RandomNumbers) {
    let doublings = attempt.saturating_sub(1);
    let longest = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(doublings));
    let fraction =
        f64::from(u32::try_from(random.next() >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    tokio::time::sleep(longest.mul_f64(fraction)).await;
}
