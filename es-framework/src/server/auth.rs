//! The API token that every request but a ping must carry.

use std::{fmt, str::FromStr, sync::Arc};

use axum::{extract::FromRequestParts, http::request::Parts};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{Server, error::Failure};
use crate::bearer;

/// A secret that clients and server share. Kept as its hash: all that is ever needed is to compare
/// it, and what is not there cannot be shown.
///
/// ```
/// use es_framework::server::ApiToken;
///
/// assert!("secret".parse::<ApiToken>().is_ok());
/// assert!("two words".parse::<ApiToken>().is_err());
/// ```
#[derive(Clone)]
pub struct ApiToken([u8; 32]);

/// A text that no request could carry.
///
/// ```
/// use es_framework::server::{ApiToken, InvalidApiToken};
///
/// assert_eq!("".parse::<ApiToken>().err(), Some(InvalidApiToken));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the API token must be 1 to 4096 visible ASCII characters without spaces")]
pub struct InvalidApiToken;

impl ApiToken {
    const MAX_LENGTH: usize = 4096;

    /// Compares in a time that depends on neither text.
    pub(crate) fn matches(&self, given: &[u8]) -> bool {
        let given: [u8; 32] = Sha256::digest(given).into();
        self.0.ct_eq(&given).into()
    }
}

impl FromStr for ApiToken {
    type Err = InvalidApiToken;

    fn from_str(text: &str) -> Result<Self, InvalidApiToken> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > Self::MAX_LENGTH || !visible {
            return Err(InvalidApiToken);
        }
        Ok(Self(Sha256::digest(text).into()))
    }
}

impl fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiToken")
    }
}

/// Proof that the request carries the token. Stands before a body in a handler's parameters, so
/// that nothing is read from a stranger.
pub(super) struct Authorized;

impl FromRequestParts<Arc<Server>> for Authorized {
    type Rejection = Failure;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &Arc<Server>,
    ) -> Result<Self, Self::Rejection> {
        match bearer::credential(&parts.headers) {
            Ok(given) if server.settings.api_token.matches(given) => Ok(Self),
            _ => Err(Failure::unauthorized()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_matches() {
        let token: ApiToken = "secret".parse().unwrap();
        assert!(token.matches(b"secret"));
        for other in [&b""[..], b"secre", b"secret1", b"Secret"] {
            assert!(!token.matches(other));
        }
        assert_eq!(format!("{token:?}"), "ApiToken");
    }

    #[test]
    fn a_token_that_no_header_can_carry_is_refused() {
        for invalid in ["", "two words", "ümlaut", "line\nbreak", &"x".repeat(5000)] {
            assert!(invalid.parse::<ApiToken>().is_err(), "{invalid}");
        }
    }
}
