//! The limit of those who guess the API token.

use std::{net::IpAddr, num::NonZeroU32};

use es_net::{ClientIdentity, KeyedRateLimiter, RateLimitExceeded};

/// The number of credentials that an address may try in a minute.
const CREDENTIALS_A_MINUTE: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// Slows down those who guess the API token.
#[derive(Debug, Clone)]
pub(crate) struct CredentialLimiter(KeyedRateLimiter);

impl Default for CredentialLimiter {
    fn default() -> Self {
        Self(KeyedRateLimiter::per_minute(CREDENTIALS_A_MINUTE))
    }
}

impl CredentialLimiter {
    /// Counts an attempt of an address.
    pub(crate) fn admit(&self, address: IpAddr) -> Result<(), RateLimitExceeded> {
        self.0.admit(ClientIdentity::from_address(address))
    }
}
