//! The limits and pauses of the retries after a conflict.

use std::time::Duration;

use super::RandomNumbers;

/// After this many attempts the caller has to send the command again.
pub(super) const MAX_ATTEMPTS: u32 = 8;
/// The longest pause before the second attempt. The limit doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(4);

/// Waits a random time before a retry, so that two commands do not conflict again.
pub(super) async fn back_off(attempt: u32, random: &RandomNumbers) {
    let doublings = attempt.saturating_sub(1);
    let longest = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(doublings));
    let fraction =
        f64::from(u32::try_from(random.next() >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    tokio::time::sleep(longest.mul_f64(fraction)).await;
}
