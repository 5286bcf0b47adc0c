//! The API token of an event store.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// A secret that clients and server share. It is stored as a hash, so that it can be compared but never
/// shown.
///
/// ```
/// use es_net::ApiToken;
///
/// assert!("secret".parse::<ApiToken>().is_ok());
/// assert!("two words".parse::<ApiToken>().is_err());
/// ```
#[derive(Clone)]
pub struct ApiToken([u8; 32]);

/// The error for a token that no request can carry.
///
/// ```
/// use es_net::{ApiToken, InvalidApiToken};
///
/// assert_eq!("".parse::<ApiToken>().err(), Some(InvalidApiToken));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the API token must be 1 to 4096 visible ASCII characters without spaces")]
pub struct InvalidApiToken;

impl ApiToken {
    const MAX_LENGTH: usize = 4096;

    /// Returns whether a credential is this token. The comparison takes the same time for all credentials.
    pub fn matches(&self, credential: &[u8]) -> bool {
        let hash: [u8; 32] = Sha256::digest(credential).into();
        self.0.ct_eq(&hash).into()
    }

    /// Returns the token's hash as a key for signatures. A signature proves later that its holder has sent the token.
    #[doc(hidden)]
    pub const fn signature_key(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for ApiToken {
    type Err = InvalidApiToken;

    fn from_str(text: &str) -> Result<Self, InvalidApiToken> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > Self::MAX_LENGTH || !is_visible {
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
