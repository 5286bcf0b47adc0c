//! Runs the reactions of an application. Each has its own subscription, so that a parked reaction
//! does not block the others.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join_all;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::{
    ReactionDescriptor, ReactionError, Reactions,
    executor::{ReactionExecutor, ReactionRuntime},
    graceful_stop::GracefulStop,
    processor::ReactionProcessor,
    stop_reason::StopReason,
    subscriber::ReactionSubscriber,
};

use es_subscribe::{
    ProgressRegistry, SubscriberProgress, answer_during, follow,
    operator::{ComponentKind, OperatorClient, OperatorRequests},
};

const KIND: ComponentKind = ComponentKind::Reaction;

/// Runs the reactions of an application.
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::reaction::ReactionRunner;
///
/// /// Reacts for an hour. The next start continues with the unfinished work.
/// async fn react_for_an_hour(runner: ReactionRunner) {
///     let _ = tokio::time::timeout(Duration::from_secs(60 * 60), runner.run()).await;
/// }
/// ```
#[derive(Debug)]
pub struct ReactionRunner {
    runtime: Arc<ReactionRuntime>,
    reactions: Reactions,
    progress: ProgressRegistry,
    operator: OperatorClient,
    requests: BTreeMap<&'static str, OperatorRequests>,
    started_at: Timestamp,
}

impl ReactionRunner {
    /// Creates a runner that has not started.
    pub fn new(runtime: ReactionRuntime, reactions: Reactions) -> Self {
        let names = || reactions.iter().map(|reaction| reaction.name);
        let (operator, requests) = OperatorClient::with_own_queues(KIND, names());
        Self {
            started_at: runtime.services.clock().now(),
            runtime: Arc::new(runtime),
            progress: ProgressRegistry::new(KIND, names()),
            reactions,
            operator,
            requests,
        }
    }

    /// Returns the progress of the reactions.
    #[must_use]
    pub fn progress(&self) -> ProgressRegistry {
        self.progress.clone()
    }

    /// Returns the client that sends the commands of operators to the reactions.
    #[must_use]
    pub fn operator_client(&self) -> OperatorClient {
        self.operator.clone()
    }

    /// Runs until the returned future is dropped, which is safe at any moment. The next start
    /// repeats the work after the last checkpoint, and repeated commands have no effect.
    pub async fn run(self) {
        self.run_until(CancellationToken::new(), Duration::ZERO)
            .await;
    }

    /// Runs until `stop` is cancelled. From then on no call begins, and a running call has the time `drain`
    /// to end. At the end, other processes take over at once: no lease is left that must expire first.
    pub async fn run_until(mut self, stop: CancellationToken, drain: Duration) {
        let stop = GracefulStop {
            request: stop,
            drain,
        };
        let reactions = self.reactions.iter().filter_map(|reaction| {
            let progress = self.progress.find_progress(reaction.name)?;
            let requests = self.requests.remove(reaction.name)?;
            let runtime = Arc::clone(&self.runtime);
            match ReactionExecutor::new(*reaction, runtime, progress.clone()) {
                Ok(executor) => {
                    let reaction = ReactionSubscriber::new(executor, stop.clone(), self.started_at);
                    Some(run_reaction(reaction, requests))
                }
                Err(error) => {
                    tracing::error!(reaction = reaction.name, %error, "a reaction cannot start");
                    progress.record_failure(error.to_failure());
                    None
                }
            }
        });
        join_all(reactions.collect::<Vec<_>>()).await;
    }
}

/// Runs one reaction until the stop, and executes the commands of operators.
async fn run_reaction(reaction: ReactionSubscriber, mut requests: OperatorRequests) {
    let store = Arc::clone(&reaction.executor.runtime.store);
    let following = follow(&reaction, &*store, &reaction.stop.request);
    match answer_during(&reaction, &mut requests, following).await {
        Some(never) => match never {},
        None => reaction.hand_over().await,
    }
}

/// Handles all stored events and due deadlines of one reaction, for a test.
#[doc(hidden)]
pub async fn catch_up(
    runtime: ReactionRuntime,
    reaction: ReactionDescriptor,
) -> Result<(), ReactionError> {
    let now = runtime.services.clock().now();
    catch_up_at(runtime, reaction, &[now]).await
}

/// Handles all stored events and due deadlines of one reaction at each of these times of the clock, for a test.
#[doc(hidden)]
pub async fn catch_up_at(
    runtime: ReactionRuntime,
    reaction: ReactionDescriptor,
    times: &[Timestamp],
) -> Result<(), ReactionError> {
    let clock = runtime.services.clock();
    if let Some(first) = times.first() {
        clock.set(*first);
    }
    let now = clock.now();
    let progress = SubscriberProgress::new(KIND, reaction.name);
    let executor = ReactionExecutor::new(reaction, Arc::new(runtime), progress)?;
    let mut processor = ReactionProcessor::load_from_checkpoint(executor, false, now).await?;
    processor.is_strict = true;
    let held = processor.request_retries(None).await?;
    let failed = StopReason::into_error;
    while processor.advance_retries(&held).await.map_err(failed)? {
        processor.finish_next_call().await.map_err(failed)?;
    }
    for time in times {
        clock.set(*time);
        processor.catch_up().await.map_err(failed)?;
    }
    Ok(())
}
