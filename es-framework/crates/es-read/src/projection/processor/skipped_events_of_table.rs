//! The events that a table skips, from the event store and from the database.

use std::{collections::BTreeSet, sync::Arc};

use super::{super::Table, Processor, ProcessorStartError};
use es_event::{EventId, EventSelection, InvalidSubjectValue};
use es_subscribe::{SkipLog, SkippedEvents};

impl Processor {
    /// Returns the log of the events that a read model skips.
    pub(super) fn skip_log(&self, table: &Table) -> Result<SkipLog, InvalidSubjectValue> {
        let (store, source) = (Arc::clone(&self.store), Arc::clone(&self.source));
        SkipLog::new(store, source, "read-models", table.model.name)
    }

    /// Loads the events that a table skips. The event store has the choices of operators, and the database
    /// repeats them. A database of an older release has choices that the event store gets now.
    pub(super) async fn load_skipped_events(
        &self,
        table: &Table,
    ) -> Result<SkippedEvents, ProcessorStartError> {
        let log = self.skip_log(table)?;
        let selections = log.load().await?;
        let ids = selections.iter().filter_map(|selection| match selection {
            EventSelection::Event { event } => Some(*event),
            _ => None,
        });
        let logged: BTreeSet<EventId> = ids.collect();
        let stored = self.database.load_skipped_ids(table).await?;
        for event in logged.difference(&stored) {
            self.database.skip_event(table, *event).await?;
        }
        for event in stored.difference(&logged) {
            let selection = EventSelection::Event { event: *event };
            log.skip(selection).await?;
        }
        let ids = logged.union(&stored).copied().collect();
        Ok(SkippedEvents::new(ids, selections))
    }
}
