//! How long an observation waits for its server to come back, and how it paces its attempts.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
    time::{Duration, Instant},
};

use jiff::{Timestamp, fmt::rfc2822};
use metrics::Counter;
use reqwest::{Response, StatusCode, header::RETRY_AFTER};

use crate::{
    metrics::{OBSERVE_RECONNECTS, counter},
    store::StoreError,
};

static RECONNECTS: LazyLock<Counter> = LazyLock::new(|| counter(&OBSERVE_RECONNECTS, &[]));

/// How an observation goes on by itself after its server was away.
///
/// ```
/// use es_framework::store::eventsourcingdb::{Reconnect, Settings};
///
/// let mut settings = Settings::new("http://localhost:3000", "secret");
/// settings.reconnect = Reconnect::never(); // an observation ends when its server does
/// assert!(settings.reconnect.patience.is_zero());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconnect {
    /// The pause after the first failure; each further one doubles it.
    pub first_pause: Duration,
    /// The longest pause, unless the server asks for a longer one.
    pub last_pause: Duration,
    /// How long the server may be away before the observation ends with the error: those who
    /// watch it, and report whether they are healthy, are to hear of a long outage.
    pub patience: Duration,
}

impl Reconnect {
    /// The first failure ends the observation.
    #[must_use]
    pub fn never() -> Self {
        Self {
            patience: Duration::ZERO,
            ..Self::default()
        }
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(100),
            last_pause: Duration::from_secs(5),
            // A server that is started anew is back by then.
            patience: Duration::from_secs(10),
        }
    }
}

/// An attempt that failed, and how long the server wants to be left alone.
pub(super) struct Trouble {
    pub(super) error: StoreError,
    pub(super) retry_after: Option<Duration>,
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            retry_after: None,
        }
    }
}

/// The failures since the server last gave a sign of life.
pub(super) struct Outage {
    limits: Reconnect,
    began: Option<Instant>,
    pause: Duration,
}

impl Outage {
    pub(super) const fn none(limits: Reconnect) -> Self {
        Self {
            limits,
            began: None,
            pause: limits.first_pause,
        }
    }

    pub(super) fn is_over(&mut self) {
        *self = Self::none(self.limits);
    }

    /// How long to wait before the next attempt.
    ///
    /// # Errors
    /// Another attempt cannot help, or would come too late.
    pub(super) fn pause(&mut self, trouble: Trouble) -> Result<Duration, StoreError> {
        let began = *self.began.get_or_insert_with(Instant::now);
        let own = jittered(self.pause);
        let pause = trouble.retry_after.map_or(own, |asked| asked.max(own));
        let late = began.elapsed().saturating_add(pause) > self.limits.patience;
        if !trouble.error.is_transient() || late {
            return Err(trouble.error);
        }
        tracing::warn!(error = %trouble.error, retry_in = ?pause, "an observation is interrupted");
        RECONNECTS.increment(1);
        self.pause = self.pause.saturating_mul(2).min(self.limits.last_pause);
        Ok(pause)
    }
}

/// Half of the pause to the whole of it, so that clients that lost a server together do not come
/// back together.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(()) % 1_024;
    let part = f64::from(u32::try_from(random).unwrap_or_default()) / 1_024.0;
    pause.mul_f64(f64::midpoint(1.0, part))
}

/// How long the server wants to be left alone: a number of seconds or a date (RFC 9110, 10.2.3).
pub(super) fn retry_after(answer: &Response) -> Option<Duration> {
    let busy = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    if !busy.contains(&answer.status()) {
        return None;
    }
    wait(answer.headers().get(RETRY_AFTER)?.to_str().ok()?)
}

fn wait(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::parse(text).ok()?.timestamp();
    // A date that is past asks for no wait.
    Some(Duration::try_from(date.duration_since(Timestamp::now())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> Trouble {
        Trouble::from(StoreError::Unavailable {
            address: "http://localhost:3000".into(),
            reason: "refused".into(),
        })
    }

    #[test]
    fn pauses_double_up_to_the_last_and_are_never_the_same() {
        let limits = Reconnect {
            patience: Duration::MAX,
            ..Reconnect::default()
        };
        let mut outage = Outage::none(limits);
        for whole in [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            let whole = Duration::from_millis(whole);
            let pause = outage.pause(away()).unwrap();
            assert!((whole / 2..=whole).contains(&pause), "{pause:?}");
        }
        outage.is_over();
        assert!(outage.pause(away()).unwrap() <= limits.first_pause);
        let many = (0..50).map(|_| jittered(Duration::from_secs(1)));
        assert!(many.collect::<std::collections::HashSet<_>>().len() > 10);
    }

    #[test]
    fn the_server_is_left_alone_for_as_long_as_it_asks_or_given_up() {
        let mut outage = Outage::none(Reconnect::default());
        let asked = |seconds| Trouble {
            retry_after: Some(Duration::from_secs(seconds)),
            ..away()
        };
        assert_eq!(outage.pause(asked(3)).unwrap(), Duration::from_secs(3));
        assert!(outage.pause(asked(3_600)).is_err());
        assert!(Outage::none(Reconnect::never()).pause(away()).is_err());
        let refused = StoreError::Refused("no".into());
        assert!(outage.pause(refused.into()).is_err());
    }

    #[test]
    fn a_wait_is_a_number_of_seconds_or_a_date() {
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let later = wait("Fri, 01 Jan 2100 00:00:00 GMT").unwrap();
        assert!(later > Duration::from_secs(3_600));
        for neither in ["", "soon", "-1", "1.5"] {
            assert_eq!(wait(neither), None, "{neither}");
        }
    }
}
