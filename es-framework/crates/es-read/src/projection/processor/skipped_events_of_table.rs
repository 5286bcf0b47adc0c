//! The events that a table skips.

use std::sync::Arc;

use super::{super::Table, Processor, ProcessorStartError};
use es_event::{EventSelection, InvalidSubjectValue};
use es_subscribe::{SkipLog, SkippedEvents};

impl Processor {
    /// Returns the log of the events that a read model skips.
    pub(super) fn skip_log(&self, table: &Table) -> Result<SkipLog, InvalidSubjectValue> {
        let (store, source) = (Arc::clone(&self.store), Arc::clone(&self.source));
        SkipLog::new(store, source, "read-models", table.model.name)
    }

    /// Loads the events that a table skips. Those that an older release has stored in the database move to the event store.
    pub(super) async fn load_skipped_events(
        &self,
        table: &Table,
    ) -> Result<SkippedEvents, ProcessorStartError> {
        let log = self.skip_log(table)?;
        let mut selections = log.load().await?;
        let stored = self.database.load_skipped_ids(table).await?;
        if !stored.is_empty() {
            for event in stored {
                let selection = EventSelection::Event { event };
                if !selections.contains(&selection) {
                    log.skip(selection.clone()).await?;
                    selections.push(selection);
                }
            }
            self.database.delete_skipped_ids(table).await?;
        }
        let ids = selections.iter().filter_map(|selection| match selection {
            EventSelection::Event { event } => Some(*event),
            _ => None,
        });
        Ok(SkippedEvents::new(ids.collect(), selections))
    }
}
