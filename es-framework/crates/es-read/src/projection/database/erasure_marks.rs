//! The last erasure of personal data after which the rows of a read model were rebuilt. It is in the database of the rows,
//! so a file that was restored from an old copy has an old mark.

use super::{super::Table, Database, DatabaseError};
use es_event::EventId;

pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS es_erasure \
     (model TEXT PRIMARY KEY, position BIGINT NOT NULL)";

pub(super) const LOAD: &str = "SELECT position FROM es_erasure WHERE model = $1";

pub(super) const RECORD: &str = "INSERT INTO es_erasure (model, position) VALUES ($1, $2) \
     ON CONFLICT (model) DO UPDATE SET position = excluded.position";

impl Database {
    /// Returns the announcement of the last erasure after which the rows of a read model were rebuilt.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn load_last_erasure(&self, table: &Table) -> Result<Option<EventId>, DatabaseError> {
        let position = self.store.load_last_erasure(table.model.name).await?;
        let position = position.and_then(|position| u64::try_from(position).ok());
        Ok(position.and_then(EventId::new))
    }

    /// Records the announcement of an erasure after which the rows of a read model were rebuilt.
    ///
    /// # Errors
    /// The database does not answer, or another process writes the rows.
    #[doc(hidden)]
    pub async fn record_erasure(
        &self,
        table: &Table,
        erasure: EventId,
    ) -> Result<(), DatabaseError> {
        let position = i64::try_from(erasure.get()).unwrap_or(i64::MAX);
        self.store.record_erasure(table.model.name, position).await
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
