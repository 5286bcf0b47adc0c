//! Runs the reactions of an application. Each has its own subscription, so that a parked reaction
//! does not block the others.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join_all;

use super::{
    ReactionDescriptor, ReactionError, ReactionStatuses, Reactions,
    executor::{ReactionExecutor, ReactionRuntime},
    graceful_stop::GracefulStop,
    parked::{ParkReason, StopReason},
    processor::{FIRST_PAUSE, ReactionProcessor},
};

use es_runtime::operator::{ComponentKind, OperatorClient, OperatorRequests};
use es_store::find_unreadable_event;

/// The longest pause before a reaction subscribes again.
const LAST_PAUSE: Duration = Duration::from_secs(5);

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
    statuses: ReactionStatuses,
    operator: OperatorClient,
    requests: BTreeMap<&'static str, OperatorRequests>,
}

impl ReactionRunner {
    /// Creates a runner that has not started.
    pub fn new(runtime: ReactionRuntime, reactions: Reactions) -> Self {
        let names = reactions.iter().map(|reaction| reaction.name);
        let (operator, requests) = OperatorClient::with_own_queues(ComponentKind::Reaction, names);
        Self {
            runtime: Arc::new(runtime),
            reactions,
            statuses: ReactionStatuses::default(),
            operator,
            requests,
        }
    }

    /// Returns the statuses of the reactions.
    #[must_use]
    pub fn statuses(&self) -> ReactionStatuses {
        self.statuses.clone()
    }

    /// Returns the client that sends the commands of operators to the reactions.
    #[must_use]
    pub fn operator_client(&self) -> OperatorClient {
        self.operator.clone()
    }

    /// Runs until the returned future is dropped, which is safe at any moment. The next start
    /// repeats the work after the last checkpoint, and repeated commands have no effect.
    pub async fn run(self) {
        self.run_until(std::future::pending(), Duration::ZERO).await;
    }

    /// Runs until `stop` completes. From then on no call begins, and a running call has the time `drain`
    /// to end. At the end, other processes take over at once: no lease is left that must expire first.
    pub async fn run_until(mut self, stop: impl Future<Output = ()>, drain: Duration) {
        let (request, graceful_stop) = GracefulStop::new(drain);
        let reactions = self.reactions.iter().filter_map(|reaction| {
            let (runtime, statuses) = (Arc::clone(&self.runtime), self.statuses.clone());
            let requests = self.requests.remove(reaction.name)?;
            match ReactionExecutor::new(*reaction, runtime, statuses) {
                Ok(executor) => Some(run_one(executor, requests, graceful_stop.clone())),
                Err(error) => {
                    tracing::error!(reaction = reaction.name, %error, "a reaction cannot start");
                    self.statuses.change(reaction.name, |status| {
                        status.state.record_failure(error.to_failure());
                    });
                    None
                }
            }
        });
        let running = join_all(reactions.collect::<Vec<_>>());
        let stopping = async {
            stop.await;
            request.send_replace(true);
        };
        tokio::join!(running, stopping);
    }
}

/// The end of one subscription.
enum SubscriptionEnd {
    /// The process stops.
    Stopped,
    /// An event that cannot be read was skipped.
    PassedUnreadable,
    /// A poison event.
    Parked(Box<ReactionProcessor>, Box<ParkReason>),
    /// A failure of the event store.
    Failed {
        error: ReactionError,
        has_advanced: bool,
    },
}

/// Runs one reaction until the stop. Subscribes again after a failure, and parks at a poison event.
async fn run_one(executor: ReactionExecutor, mut requests: OperatorRequests, stop: GracefulStop) {
    let (name, statuses) = (executor.reaction.name, executor.statuses.clone());
    let mut pause = FIRST_PAUSE;
    loop {
        let run = run_until_failure(executor.clone(), &stop);
        let error = match answering(&executor, &mut requests, run).await {
            SubscriptionEnd::Stopped => return,
            SubscriptionEnd::PassedUnreadable => continue,
            SubscriptionEnd::Parked(processor, parked) => {
                let parking = processor.park(&parked, &mut requests);
                if stop.run_until_requested(parking).await.is_none() {
                    return;
                }
                continue;
            }
            SubscriptionEnd::Failed {
                error,
                has_advanced,
            } => {
                if has_advanced {
                    pause = FIRST_PAUSE;
                }
                error
            }
        };
        tracing::warn!(reaction = name, %error, "a reaction lost its subscription and subscribes again");
        statuses.change(name, |status| {
            status.state.record_failure(error.to_failure())
        });
        let sleeping = async {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = executor.control.woken() => {}
            }
        };
        let sleeping = stop.run_until_requested(sleeping);
        if answering(&executor, &mut requests, sleeping)
            .await
            .is_none()
        {
            return;
        }
        pause = pause.saturating_mul(2).min(LAST_PAUSE);
    }
}

async fn run_until_failure(executor: ReactionExecutor, stop: &GracefulStop) -> SubscriptionEnd {
    let mut processor = match stop
        .run_until_requested(ReactionProcessor::load_from_checkpoint(executor))
        .await
    {
        None => return SubscriptionEnd::Stopped,
        Some(Ok(processor)) => processor,
        Some(Err(error)) => {
            let has_advanced = false;
            return SubscriptionEnd::Failed {
                error,
                has_advanced,
            };
        }
    };
    let calls = Arc::clone(&processor.calls);
    let failed = tokio::select! {
        biased;
        () = stop.wait_until_drained(calls) => None,
        failed = processor.process_until_failure() => Some(failed),
    };
    match failed {
        None => {
            processor.hand_over().await;
            SubscriptionEnd::Stopped
        }
        Some(Ok(never)) => match never {},
        Some(Err(StopReason::Poison(parked))) => {
            SubscriptionEnd::Parked(Box::new(processor), parked)
        }
        Some(Err(StopReason::Store(error))) => end_after_store_error(processor, error).await,
    }
}

/// Parks the reaction if it is the next event that cannot be read, unless an operator skips this event.
async fn end_after_store_error(
    mut processor: ReactionProcessor,
    error: ReactionError,
) -> SubscriptionEnd {
    let ReactionError::Store(error) = error else {
        let has_advanced = processor.has_advanced;
        return SubscriptionEnd::Failed {
            error,
            has_advanced,
        };
    };
    let store = Arc::clone(&processor.executor.runtime.store);
    match find_unreadable_event(&*store, processor.position, &error).await {
        Some(poison) if processor.executor.control.skips(&poison) => {
            processor.advance_to(poison.id);
            match processor.save_checkpoint().await {
                Ok(()) => SubscriptionEnd::PassedUnreadable,
                Err(error) => SubscriptionEnd::Failed {
                    error,
                    has_advanced: true,
                },
            }
        }
        Some(poison) => {
            let parked = Box::new(ParkReason::unreadable(poison, None, error));
            SubscriptionEnd::Parked(Box::new(processor), parked)
        }
        None => SubscriptionEnd::Failed {
            error: error.into(),
            has_advanced: processor.has_advanced,
        },
    }
}

/// Handles all stored events and due deadlines of one reaction, for a test.
#[doc(hidden)]
pub async fn catch_up(
    runtime: ReactionRuntime,
    reaction: ReactionDescriptor,
) -> Result<(), ReactionError> {
    let executor = ReactionExecutor::new(reaction, Arc::new(runtime), ReactionStatuses::default())?;
    let mut processor = ReactionProcessor::load_from_checkpoint(executor).await?;
    processor.catch_up().await.map_err(StopReason::into_error)
}

/// Runs the work. Meanwhile, executes the commands of operators.
async fn answering<T>(
    executor: &ReactionExecutor,
    requests: &mut OperatorRequests,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            Some(request) = requests.recv() => if request.is_awaited() {
                let status = executor.statuses.find(executor.reaction.name);
                let (command, selection) = (request.command, request.selection.clone());
                let result = executor.control.execute(command, selection, &status).await;
                request.send_result(result);
            }
        }
    }
}
