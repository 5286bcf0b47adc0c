//! The table of the events that read models skip. It repeats the choices of operators that the event store has.

use std::collections::BTreeSet;

use super::{super::Table, Database, DatabaseError};
use es_event::EventId;

/// Converts positions of the database to event ids.
fn event_ids_from_positions(positions: Vec<i64>) -> BTreeSet<EventId> {
    let numbers = positions.into_iter().map(u64::try_from);
    numbers.flatten().filter_map(EventId::new).collect()
}

fn to_position(event: EventId) -> i64 {
    i64::try_from(event.get()).unwrap_or(i64::MAX)
}

impl Database {
    /// Makes a read model skip an event from now on.
    pub(in crate::projection) async fn skip_event(
        &self,
        table: &Table,
        event: EventId,
    ) -> Result<(), DatabaseError> {
        let position = to_position(event);
        self.store.skip_event(table.model.name, position).await
    }

    /// Ends the skips of a read model from one event to another, both included.
    pub(in crate::projection) async fn end_skips(
        &self,
        table: &Table,
        from: EventId,
        to: EventId,
    ) -> Result<(), DatabaseError> {
        let (from, to) = (to_position(from), to_position(to));
        self.store.end_skips(table.model.name, from, to).await
    }

    /// Loads the events that a read model skips.
    pub(in crate::projection) async fn load_skipped_ids(
        &self,
        table: &Table,
    ) -> Result<BTreeSet<EventId>, DatabaseError> {
        let positions = self.store.load_skipped_positions(table.model.name).await?;
        Ok(event_ids_from_positions(positions))
    }
}
