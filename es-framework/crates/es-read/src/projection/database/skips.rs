//! The table in which older releases stored the events that read models skip. The event store has them now.

use std::collections::BTreeSet;

use super::{super::Table, Database, DatabaseError};
use es_event::EventId;
use es_sql::Statement;

const SELECT: &str = "SELECT position FROM es_skipped WHERE model = $1";

const DELETE: &str = "DELETE FROM es_skipped WHERE model = $1";

impl Database {
    /// Loads the events that an older release has stored for a read model.
    pub(in crate::projection) async fn load_skipped_ids(
        &self,
        table: &Table,
    ) -> Result<BTreeSet<EventId>, DatabaseError> {
        let rows = self.look_up(SELECT, vec![table.model.name.into()]).await?;
        let numbers = rows.into_iter().flatten().map(|cell| {
            let position = cell.as_integer().and_then(|id| u64::try_from(id).ok());
            position.and_then(EventId::new)
        });
        Ok(numbers.flatten().collect())
    }

    /// Deletes these events, which the event store has.
    pub(in crate::projection) async fn delete_skipped_ids(
        &self,
        table: &Table,
    ) -> Result<(), DatabaseError> {
        let delete = Statement::new(DELETE, [table.model.name.into()]);
        self.sql.write(vec![delete]).await
    }
}
