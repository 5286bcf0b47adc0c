//! The key of the digests that name claimed values. All instances of an application share it.

use std::fmt;

use async_trait::async_trait;
use es_store::StoreError;
use ring::hmac;
use uuid::Uuid;

/// The key with which values become the digests in the subjects of their claims. Without it, nobody can find out
/// whether a guessed value is claimed.
#[doc(hidden)]
#[derive(Clone)]
pub struct UniqueKey(hmac::Key);

impl fmt::Debug for UniqueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UniqueKey(…)")
    }
}

/// Provides the key that hides unique values in subjects. A service has it in its key store.
#[doc(hidden)]
#[async_trait]
pub trait UniqueKeySource: fmt::Debug + Send + Sync + 'static {
    /// Returns the key.
    ///
    /// # Errors
    /// The key store does not answer, or is another one than that of the claims.
    async fn unique_key(&self) -> Result<UniqueKey, StoreError>;
}

#[async_trait]
impl UniqueKeySource for UniqueKey {
    async fn unique_key(&self) -> Result<UniqueKey, StoreError> {
        Ok(self.clone())
    }
}

impl UniqueKey {
    /// Makes a key of its secret bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// Returns a name of the key that does not reveal it.
    #[must_use]
    pub fn id(&self) -> Uuid {
        let digest = hmac::sign(&self.0, b"id of the key");
        let mut id = [0; 16];
        for (byte, of_digest) in id.iter_mut().zip(digest.as_ref()) {
            *byte = *of_digest;
        }
        uuid::Builder::from_custom_bytes(id).into_uuid()
    }

    /// Returns the digest of a value under a rule, in hexadecimal digits.
    pub(super) fn digest(&self, rule: &str, value: &str) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        // A rule has no NUL, so no other rule and value give the same bytes.
        for part in ["value\0", rule, "\0", value] {
            context.update(part.as_bytes());
        }
        es_event::hex(context.sign().as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_key_rule_and_value() {
        let key = UniqueKey::from_bytes(b"one");
        let digest = key.digest("card", "1");
        assert_eq!(digest.len(), 64);
        assert_eq!(digest, key.digest("card", "1"));
        for other in [
            key.digest("card", "2"),
            key.digest("car", "d1"),
            UniqueKey::from_bytes(b"two").digest("card", "1"),
        ] {
            assert_ne!(digest, other);
        }
        assert_ne!(key.id(), UniqueKey::from_bytes(b"two").id());
    }
}
