//! A secret text that no log shows.

use std::{fmt, str::FromStr};

use es_event::{Error, Result};

use crate::ApiToken;

/// A secret text that no log shows.
///
/// ```
/// use es_net::Secret;
///
/// let token: Secret = "hunter2".parse()?;
/// assert_eq!((token.reveal(), format!("{token:?}")), ("hunter2", "***".to_owned()));
/// # Ok::<_, es_net::InvalidSecret>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Returns the text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Converts the API token of the event store, from the settings or generated.
    #[doc(hidden)]
    pub fn to_api_token(&self) -> Result<ApiToken> {
        let token = self.reveal().parse();
        token.map_err(|error| Error::because("EVENT_STORE_API_TOKEN", error))
    }
}

impl FromStr for Secret {
    type Err = InvalidSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSecret> {
        let is_valid = !text.is_empty()
            && text.len() <= 1024
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_valid {
            Ok(Self(text.into()))
        } else {
            Err(InvalidSecret)
        }
    }
}

/// The error of a text that cannot be sent as a credential.
///
/// ```
/// use es_net::{InvalidSecret, Secret};
///
/// assert_eq!("two words".parse::<Secret>(), Err(InvalidSecret));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token is 1 to 1024 visible ASCII characters")]
pub struct InvalidSecret;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_never_shows() {
        let secret: Secret = "hunter2".parse().unwrap();
        assert_eq!(format!("{secret:?}"), "***");
        assert!("with blank".parse::<Secret>().is_err());
    }
}
