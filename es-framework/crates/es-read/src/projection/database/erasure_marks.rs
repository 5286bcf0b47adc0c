//! The last erasure of personal data after which the rows of a read model were rebuilt. It is in the database of the rows,
//! so a file that was restored from an old copy has an old mark. Earlier releases stored the id of its announcement in
//! `es_erasure`. A restored event store can have another event with that id, so those marks are not read.

use super::{super::Table, Database, DatabaseError};
use es_event::Hash;

pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS es_last_erasure \
     (model TEXT PRIMARY KEY, hash TEXT NOT NULL)";

pub(super) const LOAD: &str = "SELECT hash FROM es_last_erasure WHERE model = $1";

pub(super) const RECORD: &str = "INSERT INTO es_last_erasure (model, hash) VALUES ($1, $2) \
     ON CONFLICT (model) DO UPDATE SET hash = excluded.hash";

impl Database {
    /// Returns the hash of the announcement of the last erasure after which the rows of a read model were rebuilt.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn load_last_erasure(&self, table: &Table) -> Result<Option<Hash>, DatabaseError> {
        let hash = self.store.load_last_erasure(table.model.name).await?;
        Ok(hash.and_then(|hash| hash.parse().ok()))
    }

    /// Records the hash of the announcement of an erasure after which the rows of a read model were rebuilt.
    ///
    /// # Errors
    /// The database does not answer, or another process writes the rows.
    #[doc(hidden)]
    pub async fn record_erasure(&self, table: &Table, erasure: Hash) -> Result<(), DatabaseError> {
        let hash = erasure.to_string();
        self.store.record_erasure(table.model.name, hash).await
    }

    /// Returns true if a read model has applied no event.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn is_table_new(&self, table: &Table) -> Result<bool, DatabaseError> {
        let stored = self.load_checkpoint(table).await?;
        Ok(stored.is_none_or(|stored| stored.checkpoint.is_none()))
    }
}
