//! Executes the commands of operators: rebuild, retry and skip.

use std::collections::BTreeSet;

use async_trait::async_trait;
use es_event::{EventId, EventSelection, PoisonEvent};

use super::{
    HeldKeys, SubscriberProgress,
    operator::{
        OperatorCommand, OperatorError, OperatorOutcome, OperatorRequest, OperatorRequests,
        OperatorResult, ReplayOutcome,
    },
};

/// A component that operators command.
#[doc(hidden)]
#[async_trait]
pub trait CommandedSubscriber: Send + Sync {
    /// Returns the progress of the component.
    fn progress(&self) -> &SubscriberProgress;

    /// Rebuilds the component or begins anew.
    async fn rebuild(&self) -> Result<(), OperatorError>;

    /// Skips the selected events that cannot be handled, in every later run.
    async fn skip(&self, selection: &EventSelection) -> Result<(), OperatorError>;

    /// Ends the skips of the selected events, and handles those that were passed. Returns false if none of them
    /// was skipped.
    async fn end_skips(&self, selection: &EventSelection) -> Result<bool, OperatorError>;

    /// Delivers selected events again.
    async fn replay(&self, _: Option<&EventSelection>) -> Result<ReplayOutcome, OperatorError> {
        let progress = self.progress();
        Err(OperatorError::CannotReplay(
            progress.kind(),
            progress.name(),
        ))
    }

    /// Reads the events of the selected held keys again, or of all of them. Returns the number of keys that were
    /// selected, and of those that are held no longer.
    async fn retry_held_keys(
        &self,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), OperatorError>;
}

/// Executes a command. Returns the event that has stopped the component, if the command is about it.
async fn execute_command(
    component: &dyn CommandedSubscriber,
    command: OperatorCommand,
    selection: Option<EventSelection>,
) -> OperatorResult {
    let progress = component.progress();
    let (kind, name) = (progress.kind(), progress.name());
    let not_stopped = OperatorError::NotStopped(kind, name);
    let poison = troubled(progress).find_map(|one| one.poison_event());
    let mut outcome = OperatorOutcome::default();
    match (command, selection) {
        (OperatorCommand::Rebuild, _) => component.rebuild().await?,
        (OperatorCommand::Replay, selection) => {
            outcome.replay = Some(component.replay(selection.as_ref()).await?);
        }
        (OperatorCommand::Retry, selection) => {
            let mut is_about_some = troubled(progress).next().is_some();
            if let Some(selection) = &selection {
                is_about_some = component.end_skips(selection).await?;
            }
            let retried = component.retry_held_keys(selection.as_ref()).await?;
            (outcome.retried, outcome.released) = retried;
            outcome.event = match &selection {
                None => {
                    troubled(progress).for_each(|one| one.request_attempt());
                    poison
                }
                Some(selection) => resume_at(progress, selection),
            };
            if !is_about_some && outcome.retried == 0 && outcome.event.is_none() {
                return Err(not_stopped);
            }
        }
        (OperatorCommand::Skip, selection) => {
            let skipped = find_events_to_skip(progress, selection.as_ref());
            if skipped.is_empty() {
                return Err(not_stopped);
            }
            for selection in &skipped {
                component.skip(selection).await?;
                outcome.event = resume_at(progress, selection).or(outcome.event.take());
            }
            let retried = component.retry_held_keys(selection.as_ref()).await?;
            (outcome.retried, outcome.released) = retried;
        }
    }
    let event = outcome.event.as_ref().map(|event| event.id.get());
    let (command, keys) = (command.verb(), outcome.retried);
    tracing::warn!(name, command, event, keys, "an operator commands a {kind}");
    Ok(outcome)
}

/// Returns the selections of events that a command skips. Without a selection of an operator, these are the event that
/// stopped the component and those at which keys are held. A key stands for the event at which it is held.
fn find_events_to_skip(
    progress: &SubscriberProgress,
    selection: Option<&EventSelection>,
) -> Vec<EventSelection> {
    if let Some(selection) = selection
        && !matches!(selection, EventSelection::Key { .. })
    {
        return vec![selection.clone()];
    }
    let shadow = progress.shadow_progress();
    let held = [
        progress.held_keys(),
        shadow.map(|one| one.held_keys()).unwrap_or_default(),
    ];
    let held = held.iter().flat_map(HeldKeys::iter);
    let held = held.filter(|held| held.is_selected(selection));
    let stopped = troubled(progress).find_map(|one| one.poison_event());
    let stopped = stopped.filter(|_| selection.is_none());
    let events = stopped.map(|event| event.id).into_iter();
    let events: BTreeSet<EventId> = events.chain(held.map(|held| held.poison.id)).collect();
    let events = events.into_iter();
    events
        .map(|event| EventSelection::Event { event })
        .collect()
}

/// Returns the progress of the component and of its shadow table, where they do not work.
fn troubled(progress: &SubscriberProgress) -> impl Iterator<Item = SubscriberProgress> {
    let both = [Some(progress.clone()), progress.shadow_progress()];
    let both = both.into_iter().flatten();
    both.filter(|progress| progress.state().trouble().is_some())
}

/// Lets the component try again if it has stopped at a selected event, which is returned.
fn resume_at(progress: &SubscriberProgress, selection: &EventSelection) -> Option<PoisonEvent> {
    let mut resumed = None;
    for progress in troubled(progress) {
        let event = progress.poison_event();
        if let Some(event) = event.filter(|event| selection.covers(event)) {
            progress.request_attempt();
            resumed = resumed.or(Some(event));
        }
    }
    resumed
}

/// Executes the command of an operator who still waits for the result.
#[doc(hidden)]
pub async fn answer_request(component: &dyn CommandedSubscriber, request: OperatorRequest) {
    if request.is_awaited() {
        let selection = request.selection.clone();
        let result = execute_command(component, request.command, selection).await;
        request.send_result(result);
    }
}

/// Runs some work of a subscriber to its end. Meanwhile, executes the commands of operators, which may wait for the work.
#[doc(hidden)]
pub async fn answer_during<T>(
    component: &dyn CommandedSubscriber,
    requests: &mut OperatorRequests,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(request) = requests.recv() => tokio::select! {
                biased;
                done = &mut work => return done,
                () = answer_request(component, request) => {}
            },
        }
    }
}
