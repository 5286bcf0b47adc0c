//! The checkpoint of a table.

use super::{
    super::{Cell, Table, table_definition},
    Database, DatabaseError,
    rows::name_of,
};
use es_event::{EventId, Hash};
use es_subscribe::SubscriberCheckpoint;

pub(super) const SELECT_CHECKPOINT: &str =
    "SELECT definition, position, hash FROM es_checkpoint WHERE model = $1";

/// Returns the checkpoint that two columns store.
fn read_checkpoint(position: &Cell, hash: Cell) -> Option<SubscriberCheckpoint> {
    let id = u64::try_from(position.as_integer()?).ok();
    Some(SubscriberCheckpoint {
        event: id.and_then(EventId::new)?,
        hash: hash.into_text()?.parse().ok()?,
    })
}

/// The definition of a table that exists, and its checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableCheckpoint {
    pub(super) definition: String,
    pub(crate) checkpoint: Option<SubscriberCheckpoint>,
}

impl TableCheckpoint {
    /// Returns the definition and the checkpoint in the rows of [`SELECT_CHECKPOINT`], of which there is one at most.
    pub(super) fn from_rows(mut rows: Vec<Vec<Cell>>) -> Option<Self> {
        let [definition, position, hash] = <[Cell; 3]>::try_from(rows.pop()?).ok()?;
        Some(Self {
            definition: definition.into_text()?,
            checkpoint: read_checkpoint(&position, hash),
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
