//! The checkpoint of a table.

use super::{
    super::{Cell, Table, table_definition},
    Database, DatabaseError,
    rows::name_of,
};
use es_event::{EventId, Hash, RecordedEvent};
use es_store::{EventLog, StoreError, event_with_id};

pub(super) const SELECT_CHECKPOINT: &str =
    "SELECT definition, position, hash FROM es_checkpoint WHERE model = $1";

/// The last event that a table has applied. The hash tells events of different event stores apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) id: EventId,
    pub(crate) hash: Hash,
}

impl Checkpoint {
    pub(crate) const fn from_event(event: &RecordedEvent) -> Self {
        Self {
            id: event.id,
            hash: event.hash,
        }
    }

    /// Returns true if an event store contains the event. Rows that were built from another event store
    /// are useless.
    pub(crate) async fn is_in_event_store(self, store: &dyn EventLog) -> Result<bool, StoreError> {
        match event_with_id(store, self.id).await {
            // The rows contain the event, which was damaged later.
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(event = %self.id, %error, "the last event of a read model is damaged");
                Ok(true)
            }
            stored => Ok(stored?.is_some_and(|event| Self::from_event(&event) == self)),
        }
    }

    /// Returns the checkpoint that two columns store.
    fn from_cells(position: &Cell, hash: Cell) -> Option<Self> {
        let id = u64::try_from(position.as_integer()?).ok();
        Some(Self {
            id: id.and_then(EventId::new)?,
            hash: hash.into_text()?.parse().ok()?,
        })
    }

    /// Returns the columns that store a checkpoint.
    pub(super) fn to_cells(checkpoint: Option<Self>) -> [Cell; 2] {
        let position = checkpoint.map(|last| i64::try_from(last.id.get()).unwrap_or(i64::MAX));
        let hash = checkpoint.map(|last| last.hash.to_string());
        [position.into(), hash.into()]
    }
}

/// The definition of a table that exists, and its checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableCheckpoint {
    pub(super) definition: String,
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl TableCheckpoint {
    /// Returns the definition and the checkpoint in the rows of [`SELECT_CHECKPOINT`], of which there is one at most.
    pub(super) fn from_rows(mut rows: Vec<Vec<Cell>>) -> Option<Self> {
        let [definition, position, hash] = <[Cell; 3]>::try_from(rows.pop()?).ok()?;
        Some(Self {
            definition: definition.into_text()?,
            checkpoint: Checkpoint::from_cells(&position, hash),
        })
    }

    /// Returns true if the table was created from the current declaration of the read model.
    pub(crate) fn is_current(&self, table: &Table) -> bool {
        let parts = self.definition.split('.').take(2);
        parts.eq(table_definition::definition_hash(table).split('.'))
    }

    /// Returns the last erasure of personal data that was announced before the table was created.
    pub(crate) fn erasure(&self) -> Option<Hash> {
        self.definition.split('.').nth(2)?.parse().ok()
    }

    /// Returns true if queries of the current declaration can read the table.
    pub(crate) fn is_readable(&self, table: &Table) -> bool {
        let layout = self.definition.split('.').next();
        layout == Some(table_definition::layout_hash(table).as_str())
    }
}

impl Database {
    /// Loads the definition and the checkpoint of a table.
    pub(in crate::projection) async fn load_checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<TableCheckpoint>, DatabaseError> {
        // The database is empty before the first process writes.
        let rows = self
            .look_up(SELECT_CHECKPOINT, vec![name_of(table)])
            .await?;
        Ok(TableCheckpoint::from_rows(rows))
    }
}
