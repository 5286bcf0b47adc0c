//! The rate limit of each client, for all requests.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock as _};
use moka::sync::Cache;

use super::ClientIdentity;
use crate::http::{Problem, problem::kind};

/// Number of clients that are counted. More clients evict the least active ones, so memory stays
/// bounded.
const MAX_CLIENTS: u64 = 20_000;
/// Time after which an idle client has its whole quota again.
const IDLE: Duration = Duration::from_secs(120);

/// Limits the number of requests a second for each client. It also holds for a service without
/// authentication.
///
/// ```
/// use es_framework::Settings;
///
/// let settings = Settings::default().http_rate_limit("50".parse().ok());
/// assert_eq!(settings.http_rate_limit.map(|rate| rate.get()), Some(50));
/// ```
#[derive(Debug, Clone)]
pub struct ClientRateLimiter {
    quota: Quota,
    clients: Cache<ClientIdentity, Arc<DefaultDirectRateLimiter>>,
}

/// A client exceeded its rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateLimitExceeded {
    /// The number of seconds until the next request is allowed.
    pub(super) retry_after: u64,
}

impl ClientRateLimiter {
    /// Creates a limit for each second, which is also the size of a burst.
    pub(crate) fn per_second(rate: NonZeroU32) -> Self {
        Self {
            quota: Quota::per_second(rate),
            clients: Cache::builder()
                .max_capacity(MAX_CLIENTS)
                .time_to_idle(IDLE)
                .build(),
        }
    }

    pub(super) fn admit_request(&self, client: ClientIdentity) -> Result<(), RateLimitExceeded> {
        let limiter = self
            .clients
            .get_with(client, || Arc::new(RateLimiter::direct(self.quota)));
        limiter.check().map_err(|until| {
            let wait = until.wait_time_from(limiter.clock().now());
            // Rounded up: a client that returns a moment early would be refused again.
            let retry_after = wait.as_secs().saturating_add(1);
            RateLimitExceeded { retry_after }
        })
    }
}

impl IntoResponse for RateLimitExceeded {
    fn into_response(self) -> Response {
        let problem = Problem::new(
            kind::TOO_MANY_REQUESTS,
            format!(
                "this client sends more requests than it may: wait for {} s",
                self.retry_after
            ),
        );
        let mut response = problem.into_response();
        let seconds = HeaderValue::from(self.retry_after);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(rate: u32) -> ClientRateLimiter {
        ClientRateLimiter::per_second(NonZeroU32::new(rate).unwrap())
    }

    fn client(address: &str) -> ClientIdentity {
        ClientIdentity::from_address(address.parse().unwrap())
    }

    #[test]
    fn each_client_has_a_quota_of_its_own() {
        let limit = limit(1);
        let alice = || ClientIdentity::Known("alice".into());
        assert_eq!(limit.admit_request(alice()), Ok(()));
        assert_eq!(
            limit.admit_request(alice()),
            Err(RateLimitExceeded { retry_after: 1 })
        );
        assert_eq!(
            limit.admit_request(ClientIdentity::Known("bob".into())),
            Ok(())
        );
        assert_eq!(limit.admit_request(client("192.0.2.1")), Ok(()));
    }

    #[test]
    fn any_number_of_clients_takes_a_bounded_memory() {
        let limit = limit(1);
        for number in 0..40_000_u32 {
            let address = std::net::Ipv4Addr::from_bits(number);
            let _ = limit.admit_request(ClientIdentity::from_address(address.into()));
        }
        limit.clients.run_pending_tasks();
        assert!(limit.clients.entry_count() <= MAX_CLIENTS);
    }
}
