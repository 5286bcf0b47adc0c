//! How often a client may ask.

use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter, clock::Clock as _};
use moka::sync::Cache;

use super::Caller;
use crate::{
    http::{Problem, problem::kind},
    net::PeerAddress,
};

/// Clients beyond so many push out those that asked least: memory stays bounded whoever asks.
const MAX_CLIENTS: u64 = 20_000;
/// A client that was silent for so long has its whole quota back.
const IDLE: Duration = Duration::from_secs(120);

/// Whose requests are counted together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// A caller who proved who they are.
    Known(Arc<str>),
    /// Everyone at this address; the first half of it, if it is of version 6, since one customer
    /// commonly has all of the other half.
    At(IpAddr),
}

impl Client {
    /// The caller, or who is at the other end of the connection.
    pub(super) fn of(caller: Option<&Caller>, peer: Option<PeerAddress>) -> Self {
        match (caller, peer) {
            (Some(caller), _) => Self::Known(caller.name().into()),
            (None, Some(PeerAddress(address))) => Self::at(address),
            (None, None) => Self::At(Ipv6Addr::UNSPECIFIED.into()),
        }
    }

    fn at(address: IpAddr) -> Self {
        let network = |address: Ipv6Addr| {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)
        };
        Self::At(match address.to_canonical() {
            IpAddr::V6(address) => network(address).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// So many requests a second for each client.
///
/// ```
/// use clap::Parser as _;
/// use es_framework::config::Config;
///
/// let config = Config::parse_from(["library-app", "--http-rate-limit", "50"]);
/// assert_eq!(config.surface.http_rate_limit.map(|rate| rate.get()), Some(50));
/// ```
#[derive(Debug, Clone)]
pub struct RateLimit {
    quota: Quota,
    clients: Cache<Client, Arc<DefaultDirectRateLimiter>>,
}

/// A client asked too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany {
    /// After so many seconds one more request is answered.
    pub(super) retry_after: u64,
}

impl RateLimit {
    /// As many at once as in a second.
    pub(crate) fn per_second(rate: NonZeroU32) -> Self {
        Self {
            quota: Quota::per_second(rate),
            clients: Cache::builder()
                .max_capacity(MAX_CLIENTS)
                .time_to_idle(IDLE)
                .build(),
        }
    }

    pub(super) fn count(&self, client: Client) -> Result<(), TooMany> {
        let limiter = self
            .clients
            .get_with(client, || Arc::new(RateLimiter::direct(self.quota)));
        limiter.check().map_err(|until| {
            let wait = until.wait_time_from(limiter.clock().now());
            // Rounded up: who comes back a moment early would be refused again.
            let retry_after = wait.as_secs().saturating_add(1);
            TooMany { retry_after }
        })
    }
}

impl IntoResponse for TooMany {
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

    fn limit(rate: u32) -> RateLimit {
        RateLimit::per_second(NonZeroU32::new(rate).unwrap())
    }

    fn client(address: &str) -> Client {
        Client::at(address.parse().unwrap())
    }

    #[test]
    fn each_client_has_a_quota_of_its_own() {
        let limit = limit(1);
        let alice = || Client::Known("alice".into());
        assert_eq!(limit.count(alice()), Ok(()));
        assert_eq!(limit.count(alice()), Err(TooMany { retry_after: 1 }));
        assert_eq!(limit.count(Client::Known("bob".into())), Ok(()));
        assert_eq!(limit.count(client("192.0.2.1")), Ok(()));
    }

    #[test]
    fn a_network_of_version_6_is_one_client() {
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:3:4:5:6"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.2"), client("192.0.2.1"));
    }

    #[test]
    fn any_number_of_clients_takes_a_bounded_memory() {
        let limit = limit(1);
        for number in 0..40_000_u32 {
            let address = std::net::Ipv4Addr::from_bits(number);
            let _ = limit.count(Client::at(address.into()));
        }
        limit.clients.run_pending_tasks();
        assert!(limit.clients.entry_count() <= MAX_CLIENTS);
    }
}
