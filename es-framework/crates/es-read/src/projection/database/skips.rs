//! The table of the events that read models skip. It repeats the choices of operators that the event store has.

use std::collections::BTreeSet;

use super::{
    super::{Cell, Table, table_statements},
    Database, DatabaseError,
};
use es_event::EventId;
use es_sql::Statement;

/// Converts the positions in rows to event ids.
fn event_ids_from_rows(rows: Vec<Vec<Cell>>) -> BTreeSet<EventId> {
    let positions = rows.into_iter().flatten();
    let positions = positions.filter_map(|position| position.as_integer());
    let numbers = positions.map(u64::try_from);
    numbers.flatten().filter_map(EventId::new).collect()
}

fn to_position(event: EventId) -> Cell {
    Cell::Integer(i64::try_from(event.get()).unwrap_or(i64::MAX))
}

impl Database {
    /// Makes a read model skip an event from now on.
    pub(in crate::projection) async fn skip_event(
        &self,
        table: &Table,
        event: EventId,
    ) -> Result<(), DatabaseError> {
        let skip = [table.model.name.into(), to_position(event)];
        let skip = Statement::new(table_statements::SKIP, skip);
        self.sql.write(vec![skip]).await
    }

    /// Ends the skips of a read model from one event to another, both included.
    pub(in crate::projection) async fn end_skips(
        &self,
        table: &Table,
        from: EventId,
        to: EventId,
    ) -> Result<(), DatabaseError> {
        let range = [table.model.name.into(), to_position(from), to_position(to)];
        let end = Statement::new(table_statements::END_SKIPS, range);
        self.sql.write(vec![end]).await
    }

    /// Loads the events that a read model skips.
    pub(in crate::projection) async fn load_skipped_ids(
        &self,
        table: &Table,
    ) -> Result<BTreeSet<EventId>, DatabaseError> {
        let model = table.model.name.into();
        let rows = self.look_up(table_statements::SKIPPED, vec![model]).await?;
        Ok(event_ids_from_rows(rows))
    }
}
