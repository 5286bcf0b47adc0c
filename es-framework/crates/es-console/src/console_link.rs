//! The link to the console of an open application, which works once.

use std::sync::atomic::{AtomicBool, Ordering};

use es_net::{ApiToken, InvalidApiToken};

/// The link to the console of an open application, which works once.
#[derive(Debug)]
pub struct ConsoleLink {
    key: ApiToken,
    is_used: AtomicBool,
}

impl ConsoleLink {
    /// Creates the link with this key.
    ///
    /// # Errors
    /// The key cannot be a part of an address.
    pub fn new(key: &str) -> Result<Self, InvalidApiToken> {
        Ok(Self {
            key: key.parse()?,
            is_used: AtomicBool::new(false),
        })
    }

    /// Returns whether the key is right and the link was not used before. It is used then.
    pub(crate) fn take(&self, key: &str) -> bool {
        self.key.matches(key.as_bytes()) && !self.is_used.swap(true, Ordering::AcqRel)
    }
}
