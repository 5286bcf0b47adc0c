//! How often, and after which pause, a decision is made anew.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

use super::CommandError;
use crate::{event::Subject, state::CachePolicy};

/// After so many decisions on one command its caller is told to come back.
const MAX_ATTEMPTS: u32 = 8;
/// After so many attempts the states that this process remembers are no longer trusted: an event
/// store that was put back into an earlier state has made them wrong.
const TRUSTED_ATTEMPTS: u32 = 3;
/// The longest pause before the second attempt; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(2);

/// The attempts made so far.
#[derive(Debug, Default)]
pub(super) struct Attempts(u32);

impl Attempts {
    /// Whether the next attempt may use what is remembered.
    pub(super) const fn memory(&self) -> CachePolicy {
        if self.0 < TRUSTED_ATTEMPTS {
            CachePolicy::Use
        } else {
            CachePolicy::Bypass
        }
    }

    /// Waits before the next attempt, a random time so that rivals do not meet again.
    pub(super) async fn pause(&mut self, subject: Subject) -> Result<(), CommandError> {
        self.0 = self.0.saturating_add(1);
        if self.0 >= MAX_ATTEMPTS {
            return Err(CommandError::Contended(subject));
        }
        let longest = FIRST_PAUSE.saturating_mul(1_u32 << self.0.min(8));
        let longest = u64::try_from(longest.as_micros())
            .unwrap_or(u64::MAX)
            .max(1);
        let random = RandomState::new().build_hasher().finish();
        let pause = random.checked_rem(longest).unwrap_or_default();
        tokio::time::sleep(Duration::from_micros(pause)).await;
        Ok(())
    }
}
