//! The rate limit of each client, for all requests.

use std::{num::NonZeroU32, time::Duration};

use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use es_net::{ClientIdentity, KeyedRateLimiter, RateLimitExceeded};

use crate::{Problem, problem::kind};

/// Limits the number of requests a second for each client. It also holds for a service without
/// authentication.
#[derive(Debug, Clone)]
pub(crate) struct ClientRateLimiter(KeyedRateLimiter);

impl ClientRateLimiter {
    /// Creates a limit for each second, which is also the size of a burst.
    pub(crate) fn per_second(rate: NonZeroU32) -> Self {
        Self(KeyedRateLimiter::per_second(rate))
    }

    pub(super) fn admit_request(&self, client: ClientIdentity) -> Result<(), Box<Response>> {
        let admission = self.0.admit(client);
        admission.map_err(|exceeded| Box::new(respond(exceeded)))
    }
}

/// The client that a request counts against, for a request that does the work of many.
#[derive(Debug, Clone)]
pub(crate) struct CountedClient {
    pub(super) rate: ClientRateLimiter,
    pub(super) client: ClientIdentity,
}

impl CountedClient {
    /// Counts one more request, as soon as the client may send it.
    pub(crate) async fn wait_for_admission(&self) {
        while let Err(exceeded) = self.rate.0.admit(self.client.clone()) {
            tokio::time::sleep(Duration::from_secs(exceeded.retry_after)).await;
        }
    }
}

fn respond(RateLimitExceeded { retry_after }: RateLimitExceeded) -> Response {
    let detail = format!("this client sends more requests than it may: wait for {retry_after} s");
    let mut response = Problem::new(kind::TOO_MANY_REQUESTS, detail).into_response();
    let seconds = HeaderValue::from(retry_after);
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    response
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;

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
        assert!(limit.admit_request(alice()).is_ok());
        let refused = limit.admit_request(alice()).unwrap_err();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
        let bob = ClientIdentity::Known("bob".into());
        assert!(limit.admit_request(bob).is_ok());
        assert!(limit.admit_request(client("192.0.2.1")).is_ok());
    }
}
