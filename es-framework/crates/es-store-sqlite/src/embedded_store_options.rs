//! The options for opening an embedded store.

use super::store_settings::EngineSettings;
use es_event::HashVersion;

/// The options for opening an embedded store.
///
/// ```
/// use es_event::HashVersion;
/// use es_store_sqlite::{EmbeddedStore, EmbeddedStoreOptions};
///
/// # let folder = tempfile::tempdir()?;
/// let mut options = EmbeddedStoreOptions::default();
/// options.hash_version = HashVersion::V2;
/// let store = EmbeddedStore::open_with_options(folder.path(), options)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbeddedStoreOptions {
    /// The version in which the hashes of new events are computed. Stored events keep theirs.
    pub hash_version: HashVersion,
    /// True for a program that ends soon: the open store does not verify its newest events.
    pub skip_verification: bool,
}

impl EmbeddedStoreOptions {
    pub(super) fn engine_settings(self) -> EngineSettings {
        EngineSettings {
            hash_version: self.hash_version,
            verifies: !self.skip_verification,
            ..EngineSettings::default()
        }
    }
}
