//! The pauses between the attempts of an observation to reconnect, and the end of those attempts.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use es_store::{StoreError, measure};
use jiff::{Timestamp, fmt::rfc2822};
use reqwest::{Response, StatusCode, header::RETRY_AFTER};

/// The policy by which an observation reconnects after its server was unavailable.
///
/// ```
/// use es_store_client::{ReconnectPolicy, ClientSettings};
///
/// let mut settings = ClientSettings::new("http://localhost:3000", "secret");
/// settings.reconnect = ReconnectPolicy::never(); // an observation ends with its connection
/// assert!(settings.reconnect.longest_outage.is_zero());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReconnectPolicy {
    /// The pause after the first failure. Each further failure doubles it.
    pub first_pause: Duration,
    /// The longest pause, unless the server requests a longer one.
    pub longest_pause: Duration,
    /// The outage after which the observation ends with an error, so that subscribers can report it in
    /// their health.
    pub longest_outage: Duration,
}

impl ReconnectPolicy {
    /// Returns the policy by which the first failure ends the observation.
    #[must_use]
    pub fn never() -> Self {
        Self {
            longest_outage: Duration::ZERO,
            ..Self::default()
        }
    }
}

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            // A restart of the server takes less.
            longest_outage: Duration::from_secs(10),
        }
    }
}

/// The error of an attempt, and the pause that the server requests.
pub(super) struct FailedAttempt {
    pub(super) error: StoreError,
    pub(super) requested_pause: Option<Duration>,
}

impl From<StoreError> for FailedAttempt {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            requested_pause: None,
        }
    }
}

/// The pauses of an observation, and the beginning of its outage if there is one. An outage ends when the server sends
/// something.
pub(super) struct Outage {
    policy: ReconnectPolicy,
    began: Option<Instant>,
    pauses: ExponentialBackoff,
}

impl Outage {
    /// Starts without a failure.
    pub(super) fn new(policy: ReconnectPolicy) -> Self {
        // A random time between half of the pause and the whole pause, so that clients that lost a server together
        // do not reconnect together.
        let pauses = ExponentialBuilder::new()
            .with_min_delay(policy.first_pause.mul_f64(0.5))
            .with_max_delay(policy.longest_pause.mul_f64(0.5))
            .with_jitter()
            .without_max_times();
        Self {
            policy,
            began: None,
            pauses: pauses.build(),
        }
    }

    /// Forgets the failures, because the server has sent something.
    pub(super) fn forget_failures(&mut self) {
        *self = Self::new(self.policy);
    }

    /// Returns the pause before the next attempt.
    ///
    /// # Errors
    /// Another attempt would not help or would come too late.
    pub(super) fn next_pause(&mut self, failure: FailedAttempt) -> Result<Duration, StoreError> {
        let began = *self.began.get_or_insert_with(Instant::now);
        let own = self.pauses.next().unwrap_or(self.policy.longest_pause);
        let pause = failure
            .requested_pause
            .map_or(own, |requested| requested.max(own));
        let is_too_late = began.elapsed().saturating_add(pause) > self.policy.longest_outage;
        if !failure.error.is_transient() || is_too_late {
            return Err(failure.error);
        }
        tracing::warn!(error = %failure.error, retry_in = ?pause, "an observation was interrupted");
        measure(|meter| meter.record_reconnect());
        Ok(pause)
    }
}

/// Returns the pause that a busy server requests: a number of seconds or a date (RFC 9110, 10.2.3).
pub(super) fn requested_pause(response: &Response) -> Option<Duration> {
    let busy = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    if !busy.contains(&response.status()) {
        return None;
    }
    parse_retry_after(response.headers().get(RETRY_AFTER)?.to_str().ok()?)
}

fn parse_retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::parse(text).ok()?.timestamp();
    // A date in the past requests no pause.
    Some(Duration::try_from(date.duration_since(Timestamp::now())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unavailable() -> FailedAttempt {
        FailedAttempt::from(StoreError::Unavailable {
            address: "http://localhost:3000".into(),
            reason: "refused".into(),
        })
    }

    #[test]
    fn pauses_double_up_to_the_last_and_are_never_the_same() {
        let policy = ReconnectPolicy {
            longest_outage: Duration::MAX,
            ..ReconnectPolicy::default()
        };
        let mut outage = Outage::new(policy);
        for whole in [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            let whole = Duration::from_millis(whole);
            let pause = outage.next_pause(unavailable()).unwrap();
            assert!((whole / 2..=whole).contains(&pause), "{pause:?}");
        }
        outage.forget_failures();
        assert!(outage.next_pause(unavailable()).unwrap() <= policy.first_pause);
        let many = (0..50).map(|_| Outage::new(policy).next_pause(unavailable()).unwrap());
        assert!(many.collect::<std::collections::HashSet<_>>().len() > 10);
    }

    #[test]
    fn the_server_is_left_alone_for_as_long_as_it_asks_or_given_up() {
        let mut outage = Outage::new(ReconnectPolicy::default());
        let requested = |seconds| FailedAttempt {
            requested_pause: Some(Duration::from_secs(seconds)),
            ..unavailable()
        };
        assert_eq!(
            outage.next_pause(requested(3)).unwrap(),
            Duration::from_secs(3)
        );
        assert!(outage.next_pause(requested(3_600)).is_err());
        assert!(
            Outage::new(ReconnectPolicy::never())
                .next_pause(unavailable())
                .is_err()
        );
        let refused = StoreError::Refused("no".into());
        assert!(outage.next_pause(refused.into()).is_err());
    }

    #[test]
    fn a_wait_is_a_number_of_seconds_or_a_date() {
        assert_eq!(parse_retry_after("7"), Some(Duration::from_secs(7)));
        assert_eq!(
            parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::ZERO)
        );
        let later = parse_retry_after("Fri, 01 Jan 2100 00:00:00 GMT").unwrap();
        assert!(later > Duration::from_secs(3_600));
        for neither in ["", "soon", "-1", "1.5"] {
            assert_eq!(parse_retry_after(neither), None, "{neither}");
        }
    }
}
