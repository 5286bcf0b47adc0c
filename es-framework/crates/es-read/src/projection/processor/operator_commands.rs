//! The commands of operators to one read model.

use async_trait::async_trait;

use super::{super::Table, Processor, ProcessorStartError, held_row_retry::holds_one_row};
use es_event::EventSelection;
use es_subscribe::{
    CommandedSubscriber, HeldKey, SubscriberProgress,
    operator::{ComponentKind, OperatorError},
};

const KIND: ComponentKind = ComponentKind::ReadModel;

/// The read model that a command is about.
pub(super) struct CommandedReadModel<'a> {
    pub(super) processor: &'a Processor,
    pub(super) table: &'a Table,
    pub(super) progress: &'a SubscriberProgress,
}

#[async_trait]
impl CommandedSubscriber for CommandedReadModel<'_> {
    fn progress(&self) -> &SubscriberProgress {
        self.progress
    }

    /// Rebuilds in a shadow table, or in place if the read model has stopped before it answered queries.
    async fn rebuild(&self) -> Result<(), OperatorError> {
        let Self {
            processor,
            table,
            progress,
        } = self;
        let shadow = progress.shadow_progress();
        let is_running = |progress: &SubscriberProgress| !progress.is_stopped();
        let is_in_place = shadow.is_none() && !progress.has_caught_up();
        if shadow.as_ref().is_some_and(is_running) || is_in_place && is_running(progress) {
            return Err(OperatorError::Rebuilding(KIND, table.model.name));
        }
        if is_in_place {
            processor
                .database
                .reset_table(table)
                .await
                .map_err(failed)?;
            progress.record_reset();
        } else {
            let shadow = table.shadow_table();
            let reset = processor.database.reset_table(&shadow);
            reset.await.map_err(failed)?;
            progress.set_shadow_progress(None);
        }
        Ok(())
    }

    async fn skip(&self, selection: &EventSelection) -> Result<(), OperatorError> {
        let log = self.processor.skip_log(self.table).map_err(failed)?;
        if let Some(event) = log.find_unrecorded(selection).await {
            return Err(OperatorError::NoSuchEvent(event));
        }
        log.skip(selection.clone()).await.map_err(failed)
    }

    /// Rebuilds a read model that has passed such an event.
    async fn end_skips(&self, selection: &EventSelection) -> Result<bool, OperatorError> {
        let log = self.processor.skip_log(self.table).map_err(failed)?;
        if !log.end_skips(selection).await.map_err(failed)? {
            return Ok(false);
        }
        if self.progress.has_caught_up() && self.progress.shadow_progress().is_none() {
            self.rebuild().await?;
        }
        Ok(true)
    }

    async fn retry_held_keys(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), OperatorError> {
        let (mut retried, mut released) = (0_usize, 0_usize);
        let built = self.progress.shadow_progress();
        let shadow = built.map(|progress| (self.table.shadow_table(), progress));
        let current = (self.table.clone(), self.progress.clone());
        for (table, progress) in std::iter::once(current).chain(shadow) {
            let counts = self.processor.retry_held_rows(&table, &progress, selection);
            let (of_table, free) = counts.await.map_err(failed)?;
            retried = retried.saturating_add(of_table);
            released = released.saturating_add(free);
        }
        if self.has_unknown_row(selection) && self.progress.shadow_progress().is_none() {
            self.rebuild().await?;
        }
        Ok((retried, released))
    }
}

impl CommandedReadModel<'_> {
    /// Returns true if a selected event does not tell its row. Only a rebuild brings it into its place.
    fn has_unknown_row(&self, selection: Option<&EventSelection>) -> bool {
        let is_unknown =
            |held: &HeldKey| held.is_selected(selection) && !holds_one_row(self.table, held);
        self.progress.held_keys().iter().any(is_unknown)
    }
}

fn failed(error: impl Into<ProcessorStartError>) -> OperatorError {
    OperatorError::Failed(KIND, error.into().to_string())
}
