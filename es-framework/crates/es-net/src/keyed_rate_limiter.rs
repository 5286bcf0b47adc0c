//! A rate limit for each of many clients, in bounded memory.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock as _};
use moka::sync::Cache;

use crate::client_identity::ClientIdentity;

/// Number of clients that are counted. More clients evict the least active ones, so memory stays
/// bounded.
const MAX_CLIENTS: u64 = 20_000;
/// Time after which an idle client has its whole quota again.
const IDLE: Duration = Duration::from_secs(120);

/// Limits the number of requests of each client. The quota is also the size of a burst.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct KeyedRateLimiter {
    quota: Quota,
    clients: Cache<ClientIdentity, Arc<DefaultDirectRateLimiter>>,
}

/// A client exceeded its rate limit.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitExceeded {
    /// The number of seconds until the next request is allowed.
    pub retry_after: u64,
}

impl KeyedRateLimiter {
    /// Creates a limit for each second.
    pub fn per_second(rate: NonZeroU32) -> Self {
        Self::with_quota(Quota::per_second(rate))
    }

    /// Creates a limit for each minute.
    pub fn per_minute(rate: NonZeroU32) -> Self {
        Self::with_quota(Quota::per_minute(rate))
    }

    fn with_quota(quota: Quota) -> Self {
        let clients = Cache::builder()
            .max_capacity(MAX_CLIENTS)
            .time_to_idle(IDLE)
            .build();
        Self { quota, clients }
    }

    /// Counts a request of a client.
    ///
    /// # Errors
    /// The client has sent too many requests.
    pub fn admit(&self, client: ClientIdentity) -> Result<(), RateLimitExceeded> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_clients_takes_a_bounded_memory() {
        let limiter = KeyedRateLimiter::per_second(NonZeroU32::MIN);
        for number in 0..40_000_u32 {
            let _ = limiter.admit(ClientIdentity::At(number.to_be_bytes().into()));
        }
        limiter.clients.run_pending_tasks();
        assert!(limiter.clients.entry_count() <= MAX_CLIENTS);
    }
}
