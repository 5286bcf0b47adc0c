//! Runs the reactions of an application in the process that owns the state database. The others stand by. Each reaction
//! has its own subscription, so that a parked reaction does not block the others.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, join_all};
use jiff::Timestamp;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{
    ReactionDescriptor, ReactionError, ReactionRuntime, Reactions, error::failure_of_state,
    executor_progress::publish_tasks, schedule_times::parse_schedules,
    shared_reaction::SharedReaction, subscriber::ReactionSubscriber, task_executor::TaskExecutor,
};

use es_subscribe::{
    ProgressRegistry, SubscriberProgress, answer_during, follow,
    operator::{ComponentKind, OperatorClient, OperatorError, OperatorRequests},
    state::{StateDatabase, StateError, SubscriberPosition},
};

const KIND: ComponentKind = ComponentKind::Reaction;
/// The interval at which a process that stands by asks for the state database.
const STAND_BY: Duration = Duration::from_millis(500);
/// The interval at which a process that stands by publishes the progress of the owner.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(2);
/// The interval at which the owner of the state database asks whether it still owns it.
const HEARTBEAT: Duration = Duration::from_secs(1);

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

/// A reaction that can run, and the commands of operators to it.
struct RunnableReaction {
    reaction: ReactionDescriptor,
    progress: SubscriberProgress,
    requests: OperatorRequests,
}

impl ReactionRunner {
    /// Creates a runner that has not started.
    pub fn new(runtime: ReactionRuntime, reactions: Reactions) -> Self {
        let names = || reactions.iter().map(|reaction| reaction.name);
        let (operator, requests) = OperatorClient::with_own_queues(KIND, names());
        let progress = ProgressRegistry::new(KIND, names());
        let sinks = reactions.iter().filter(|reaction| reaction.sink.is_some());
        sinks
            .filter_map(|sink| progress.find_progress(sink.name))
            .for_each(SubscriberProgress::begin_deliveries);
        Self {
            started_at: runtime.services.clock().now(),
            runtime: Arc::new(runtime),
            progress,
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
    /// continues with the open tasks, and repeated commands have no effect.
    pub async fn run(self) {
        self.run_until(CancellationToken::new(), Duration::ZERO)
            .await;
    }

    /// Runs until `stop` is cancelled. From then on no call begins, and a running call has the time `drain`
    /// to end. At the end, another process takes over at once.
    pub fn run_until(self, stop: CancellationToken, drain: Duration) -> BoxFuture<'static, ()> {
        // Boxed, so that reactions are compiled in this crate and not in each one that runs them.
        Box::pin(self.run_to_end(stop, drain))
    }

    async fn run_to_end(mut self, stop: CancellationToken, drain: Duration) {
        let mut runnable = self.find_runnable();
        while !runnable.is_empty() && !stop.is_cancelled() {
            let owning = stand_by(&self.runtime.state, &mut runnable);
            let Some(term) = stop.run_until_cancelled(owning).await else {
                break;
            };
            tokio::select! {
                biased;
                () = self.run_reactions(&mut runnable, &stop, drain) => {}
                () = watch_ownership(&self.runtime.state, term) => {
                    tracing::warn!("another process may run the reactions; this one stands by");
                }
            }
        }
        self.runtime.state.release().await;
    }

    /// Returns the reactions that can start.
    fn find_runnable(&mut self) -> Vec<RunnableReaction> {
        let reactions = self.reactions.iter().filter_map(|reaction| {
            let progress = self.progress.find_progress(reaction.name)?.clone();
            let requests = self.requests.remove(reaction.name)?;
            if let Err(error) = parse_schedules(reaction) {
                tracing::error!(reaction = reaction.name, %error, "a reaction cannot start");
                progress.record_failure(error.to_failure());
                return None;
            }
            Some(RunnableReaction {
                reaction: *reaction,
                progress,
                requests,
            })
        });
        reactions.collect()
    }

    /// Runs all reactions until the stop.
    async fn run_reactions(
        &self,
        runnable: &mut [RunnableReaction],
        stop: &CancellationToken,
        drain: Duration,
    ) {
        let names: Arc<[_]> = self
            .reactions
            .iter()
            .map(|reaction| reaction.name)
            .collect();
        let running = runnable.iter_mut().map(|runnable| {
            let (runtime, names) = (Arc::clone(&self.runtime), Arc::clone(&names));
            let progress = runnable.progress.clone();
            let shared =
                SharedReaction::new(runnable.reaction, runtime, progress, names, self.started_at);
            async move {
                match shared {
                    Ok(shared) => run_reaction(shared, &mut runnable.requests, stop, drain).await,
                    Err(error) => runnable.progress.record_failure(error.to_failure()),
                }
            }
        });
        join_all(running).await;
    }
}

/// Runs one reaction until the stop, and executes the commands of operators.
async fn run_reaction(
    shared: SharedReaction,
    requests: &mut OperatorRequests,
    stop: &CancellationToken,
    drain: Duration,
) {
    let shared = Arc::new(shared);
    let store = Arc::clone(&shared.steps.runtime.store);
    let subscriber = ReactionSubscriber {
        shared: Arc::clone(&shared),
        stop: stop.clone(),
    };
    let mut executor = TaskExecutor::new(Arc::clone(&shared));
    let following = async {
        loop {
            let round = stop.child_token();
            let mut following = std::pin::pin!(follow(&subscriber, &*store, &round));
            tokio::select! {
                end = &mut following => break end,
                // The next round finds out that the sink has ended, and waits for an operator.
                () = shared.has_ended.notified() => round.cancel(),
            }
            following.await;
        }
    };
    let running = async { tokio::join!(following, executor.run(stop, drain)) };
    if let (Some(never), ()) = answer_during(&subscriber, requests, running).await {
        match never {}
    }
}

/// Waits until this process owns the state database, and returns the number of the ownership. Meanwhile it publishes the
/// progress that the owner has saved.
async fn stand_by(state: &StateDatabase, runnable: &mut [RunnableReaction]) -> u64 {
    let mut was_reported = false;
    let mut published: Option<Instant> = None;
    loop {
        let failure = match state.try_own().await {
            Ok(Some(term)) => return term,
            Ok(None) if published.is_some_and(|at| at.elapsed() < PUBLISH_INTERVAL) => None,
            Ok(None) => {
                published = Some(Instant::now());
                publish_saved(state, runnable).await.err()
            }
            Err(error) => Some(error),
        };
        for one in runnable.iter_mut() {
            if let Some(error) = &failure {
                let failure = failure_of_state(error);
                one.progress.record_failure(failure);
            }
            while let Ok(request) = one.requests.try_recv() {
                request.send_result(Err(OperatorError::StandsBy));
            }
        }
        if !std::mem::replace(&mut was_reported, true) {
            match failure {
                Some(error) => tracing::warn!(%error, "the reactions cannot run yet"),
                None => tracing::info!("another process runs the reactions; this one stands by"),
            }
        }
        sleep(STAND_BY).await;
    }
}

/// Publishes the progress of the process that runs the reactions.
async fn publish_saved(
    state: &StateDatabase,
    runnable: &[RunnableReaction],
) -> Result<(), StateError> {
    for RunnableReaction { progress, .. } in runnable {
        let position = match state.position(progress.name()).await {
            Ok(SubscriberPosition::At(checkpoint)) => Some(checkpoint.event),
            Ok(SubscriberPosition::Unknown | SubscriberPosition::BeforeFirst) => None,
            Err(error @ StateError::Ended(_)) => {
                progress.record_failure(failure_of_state(&error));
                continue;
            }
            Err(error) => return Err(error),
        };
        progress.record_position(position);
        publish_tasks(state, progress, &[]).await?;
        progress.record_catch_up();
        progress.record_success();
    }
    Ok(())
}

/// Returns when this process no longer has its ownership of the state database.
async fn watch_ownership(state: &StateDatabase, term: u64) {
    loop {
        sleep(HEARTBEAT).await;
        match state.try_own().await {
            Ok(Some(current)) if current == term => {}
            Ok(_) => return,
            Err(error) if error.is_ownership_lost() => return,
            Err(error) => tracing::warn!(%error, "the state database does not answer"),
        }
    }
}

/// Handles all stored events and due deadlines of one reaction, for a test.
#[doc(hidden)]
pub async fn catch_up(
    runtime: ReactionRuntime,
    reaction: ReactionDescriptor,
) -> Result<(), ReactionError> {
    let now = runtime.services.clock().now();
    catch_up_at(runtime, reaction, &[ClockMove::Jump(now)]).await
}

/// A move of the clock in a test of a reaction.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum ClockMove {
    /// No instance runs until this time.
    Jump(Timestamp),
    /// An instance runs, so that it executes each task when it is due.
    Pass(Timestamp),
}

impl ClockMove {
    /// Returns the time of the clock after the move.
    #[must_use]
    pub const fn end(self) -> Timestamp {
        match self {
            Self::Jump(time) | Self::Pass(time) => time,
        }
    }
}

/// Handles all stored events and due tasks of one reaction after each of these moves of the clock, for a test.
#[doc(hidden)]
pub async fn catch_up_at(
    runtime: ReactionRuntime,
    reaction: ReactionDescriptor,
    moves: &[ClockMove],
) -> Result<(), ReactionError> {
    let clock = runtime.services.clock();
    if let Some(first) = moves.first() {
        clock.set(first.end());
    }
    let state = runtime.state.clone();
    while state.try_own().await?.is_none() {
        sleep(Duration::from_millis(10)).await;
    }
    let progress = SubscriberProgress::new(KIND, reaction.name);
    let names = Arc::from([reaction.name]);
    let shared = SharedReaction::new(reaction, Arc::new(runtime), progress, names, clock.now())?;
    let shared = Arc::new(shared);
    shared.load().await?;
    let mut executor = TaskExecutor::strict(shared);
    for clock_move in moves {
        if let ClockMove::Pass(end) = clock_move {
            let is_ahead = |next: &Timestamp| *next > clock.now() && next < end;
            while let Some(next) = executor.next.filter(is_ahead) {
                clock.set(next);
                executor.catch_up().await?;
            }
        }
        clock.set(clock_move.end());
        executor.catch_up().await?;
    }
    state.release().await;
    Ok(())
}
