//! The commands of operators: rebuild, retry and skip.

use super::{
    super::{PoisonEvent, ReadModelProgress, Table},
    Processor, ProcessorStartError,
};
use es_event::EventSelection;
use es_runtime::operator::{
    ComponentKind, OperatorCommand, OperatorError, OperatorRequest, OperatorResult,
};

const KIND: ComponentKind = ComponentKind::ReadModel;

/// The read model that a command is about.
struct CommandedReadModel<'a> {
    table: &'a Table,
    progress: &'a ReadModelProgress,
}

impl Processor {
    /// Executes a command of an operator.
    pub(super) async fn execute(&self, request: &OperatorRequest) -> OperatorResult {
        let unknown = || OperatorError::Unknown(KIND, request.component.to_owned());
        let table = self.models.find_table(request.component);
        let table = table.ok_or_else(unknown)?;
        let progress = self.positions.find_progress(table.model.name);
        let progress = progress.ok_or_else(unknown)?;
        let model = CommandedReadModel { table, progress };
        match (request.command, request.selection.clone()) {
            (OperatorCommand::Rebuild, _) => self.rebuild(&model).await,
            (OperatorCommand::Skip, selection) => self.skip(&model, selection).await,
            (OperatorCommand::Retry, None) => model.retry(),
            (OperatorCommand::Retry, Some(selection)) => self.end_skips(&model, selection).await,
        }
    }

    /// Rebuilds a read model: in a shadow table, or in place if it has stopped before it answered queries.
    async fn rebuild(&self, model: &CommandedReadModel<'_>) -> OperatorResult {
        let CommandedReadModel { table, progress } = model;
        let name = table.model.name;
        let shadow = progress.shadow_progress();
        let is_running = |progress: &ReadModelProgress| !progress.is_stopped();
        if shadow.as_ref().is_some_and(is_running) {
            return Err(OperatorError::Rebuilding(KIND, name));
        }
        if shadow.is_none() && !progress.has_caught_up() {
            if is_running(progress) {
                return Err(OperatorError::Rebuilding(KIND, name));
            }
            self.database.reset_table(table).await.map_err(failed)?;
            progress.record_reset();
        } else {
            let reset = self.database.reset_table(&table.shadow_table()).await;
            reset.map_err(failed)?;
            progress.set_shadow_progress(None);
        }
        tracing::warn!(read_model = name, "an operator rebuilds the read model");
        Ok(None)
    }

    /// Skips events: those that are selected, or the one that has stopped the read model.
    async fn skip(
        &self,
        model: &CommandedReadModel<'_>,
        selection: Option<EventSelection>,
    ) -> OperatorResult {
        let name = model.table.model.name;
        let of_event = |event: PoisonEvent| EventSelection::Event { event: event.id };
        let selection = selection.or_else(|| {
            let mut stopped = model.troubled().filter_map(|one| one.poison_event());
            stopped.next().map(of_event)
        });
        let selection = selection.ok_or(OperatorError::NotStopped(KIND, name))?;
        let log = self.skip_log(model.table).map_err(failed)?;
        log.skip(selection.clone()).await.map_err(failed)?;
        tracing::warn!(read_model = name, events = %selection, "an operator skips events of the read model");
        Ok(model.resume_at(&selection))
    }

    /// Ends the skips of events. A read model that has passed such an event is rebuilt.
    async fn end_skips(
        &self,
        model: &CommandedReadModel<'_>,
        selection: EventSelection,
    ) -> OperatorResult {
        let CommandedReadModel { table, progress } = model;
        let name = table.model.name;
        let log = self.skip_log(table).map_err(failed)?;
        let mut skipped = log.load().await.map_err(failed)?.into_iter();
        let was_skipped = skipped.any(|one| selection.covers_all_of(&one));
        if was_skipped {
            log.resume(selection.clone()).await.map_err(failed)?;
            if let Some((from, to)) = selection.ids() {
                let ended = self.database.end_skips(table, from, to).await;
                ended.map_err(failed)?;
            }
        }
        tracing::warn!(read_model = name, events = %selection, "an operator retries events of the read model");
        let resumed = model.resume_at(&selection);
        if was_skipped && progress.has_caught_up() && progress.shadow_progress().is_none() {
            self.rebuild(model).await?;
        } else if !was_skipped && resumed.is_none() {
            return Err(OperatorError::NotStopped(KIND, name));
        }
        Ok(resumed)
    }
}

fn failed(error: impl Into<ProcessorStartError>) -> OperatorError {
    OperatorError::Failed(KIND, error.into().to_string())
}

impl CommandedReadModel<'_> {
    /// Returns the progress of the table and of the shadow table, where they do not work.
    fn troubled(&self) -> impl Iterator<Item = ReadModelProgress> {
        let shadow = self.progress.shadow_progress();
        let both = [Some(self.progress.clone()), shadow].into_iter().flatten();
        both.filter(|progress| progress.state().trouble().is_some())
    }

    /// Lets the read model try again at once.
    fn retry(&self) -> OperatorResult {
        let name = self.table.model.name;
        let mut troubled = self.troubled().peekable();
        if troubled.peek().is_none() {
            return Err(OperatorError::NotStopped(KIND, name));
        }
        tracing::warn!(
            read_model = name,
            "an operator lets the read model try again"
        );
        let mut event = None;
        for progress in troubled {
            event = event.or(progress.poison_event());
            progress.record_resumption();
        }
        Ok(event)
    }

    /// Lets the read model try again if it has stopped at a selected event, which is returned.
    fn resume_at(&self, selection: &EventSelection) -> Option<PoisonEvent> {
        let mut resumed = None;
        for progress in self.troubled() {
            let event = progress.poison_event();
            if let Some(event) = event.filter(|event| selection.covers(event)) {
                progress.record_resumption();
                resumed = resumed.or(Some(event));
            }
        }
        resumed
    }
}
