//! Executes the commands of operators: rebuild, retry and skip.

use async_trait::async_trait;
use es_event::{EventSelection, PoisonEvent};

use super::{
    SubscriberProgress,
    operator::{OperatorCommand, OperatorError, OperatorRequest, OperatorRequests, OperatorResult},
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
    let resumed = match (command, selection) {
        (OperatorCommand::Rebuild, _) => {
            component.rebuild().await?;
            None
        }
        (OperatorCommand::Retry, None) => {
            let mut troubled = troubled(progress).peekable();
            troubled.peek().ok_or(not_stopped)?;
            troubled.for_each(|one| one.request_attempt());
            poison
        }
        (OperatorCommand::Retry, Some(selection)) => {
            let was_skipped = component.end_skips(&selection).await?;
            let resumed = resume_at(progress, &selection);
            if !was_skipped && resumed.is_none() {
                return Err(not_stopped);
            }
            resumed
        }
        (OperatorCommand::Skip, selection) => {
            let of_event = |event: PoisonEvent| EventSelection::Event { event: event.id };
            let selection = selection.or_else(|| poison.map(of_event));
            let selection = selection.ok_or(not_stopped)?;
            component.skip(&selection).await?;
            resume_at(progress, &selection)
        }
    };
    let (event, command) = (resumed.as_ref().map(|event| event.id.get()), command.verb());
    tracing::warn!(name, command, event, "an operator commands a {kind}");
    Ok(resumed)
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

/// Runs the work. Meanwhile, executes the commands of operators, which may wait for the work.
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
