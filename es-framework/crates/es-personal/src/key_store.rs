//! The port to the store of the persons' keys.

use std::{collections::HashMap, fmt, path::Path};

use async_trait::async_trait;
use uuid::Uuid;

/// The state of a person in a key store.
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq)]
pub enum StoredKey {
    /// The bytes of the key.
    Key(Vec<u8>),
    /// The key is destroyed, and the person never gets another one.
    Erased,
}

impl fmt::Debug for StoredKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key(_) => "Key(…)",
            Self::Erased => "Erased",
        })
    }
}

/// The error of a key store.
#[doc(hidden)]
#[derive(Debug, Clone, thiserror::Error)]
#[error("the key store cannot be used: {0}")]
pub struct KeyStoreError(pub String);

/// Stores one key per person, and the persons who are erased.
///
/// No method returns before its change is durable.
#[doc(hidden)]
#[async_trait]
pub trait KeyStore: fmt::Debug + Send + Sync + 'static {
    /// Returns the identity of the store, which it got when it was created.
    fn identity(&self) -> Uuid;

    /// Returns the persons among these that the store knows.
    async fn find(&self, persons: Vec<Uuid>) -> Result<HashMap<Uuid, StoredKey>, KeyStoreError>;

    /// Stores the key of a person who has none, and returns what is stored then.
    async fn find_or_insert(&self, person: Uuid, key: Vec<u8>) -> Result<StoredKey, KeyStoreError>;

    /// Destroys the key of a person, makes sure that there will be no other one, and records the intent to erase the person, all
    /// at once. Changes nothing if the person is erased.
    async fn erase(&self, person: Uuid) -> Result<(), KeyStoreError>;

    /// Ends the intent to erase a person, because the erasure is announced.
    async fn finish_erasure(&self, person: Uuid) -> Result<(), KeyStoreError>;

    /// Returns the erased persons whose intents are open.
    async fn unfinished_erasures(&self) -> Result<Vec<Uuid>, KeyStoreError>;

    /// Writes something, to find out whether new keys can be stored.
    async fn check(&self) -> Result<(), KeyStoreError>;

    /// Returns the file of the store, if it is one.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Returns true if a key is longer than this number of bytes.
    async fn has_longer_key(&self, length: usize) -> Result<bool, KeyStoreError>;

    /// Replaces each key by another form of it, and removes what earlier states of the store left in its files.
    async fn rewrite_keys(&self, rewrite: KeyRewrite) -> Result<usize, KeyStoreError>;
}

/// Returns the new form of a key, or `None` if it stays as it is.
#[doc(hidden)]
pub type KeyRewrite =
    Box<dyn Fn(Uuid, &[u8]) -> Result<Option<Vec<u8>>, KeyStoreError> + Send + Sync>;
