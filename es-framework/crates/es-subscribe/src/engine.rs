//! The engine: subscribes, reads batches, lets the subscriber handle them, and retries after failures.

#[cfg(test)]
mod tests;

use std::{convert::Infallible, time::Duration};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use es_event::{EventId, PoisonEvent, Subject};
use es_store::{EventLog, ObserveOptions, StoreError, find_unreadable_event, newest_id_or_bound};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    Interruption, Subscriber, SubscriberFailure, SubscriberProgress, TroubleCause,
    batch_reader::{BatchReader, EventBatch},
    catch_up::CatchUp,
};

/// The batching window: the time in which events gather between two batches of a subscriber for which a batch
/// costs far more than an event. Without the window, the transactions of a busy store took a third of the machine.
/// The engine reads during the window, because an event store behind a URL sends the next event only after the
/// last one was read.
const BATCHING_WINDOW: Duration = Duration::from_millis(15);
/// A subscription that lives this long was not refused.
const SUBSCRIBED_AFTER: Duration = Duration::from_secs(2);
/// The interval at which a parked subscriber checks whether another process has handled the event.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause before the next subscription.
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// Returns the pauses between attempts: a tenth of a second, doubled each time up to a limit.
#[doc(hidden)]
#[must_use]
pub fn back_off(longest: Duration) -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(FIRST_PAUSE)
        .with_max_delay(longest)
        .without_max_times()
        .build()
}

/// Lets a subscriber handle the events of a store until it ends by itself. Returns `None` when `stop` is cancelled,
/// which takes effect between two batches.
#[doc(hidden)]
pub async fn follow<S: Subscriber>(
    subscriber: &S,
    store: &dyn EventLog,
    stop: &CancellationToken,
) -> Option<S::End> {
    let mut subscription = Subscription {
        subscriber,
        store,
        stop,
        from: None,
        passed: None,
    };
    let mut pauses = back_off(LAST_PAUSE);
    loop {
        let interruption = match subscription.run().await {
            Ok(()) => continue,
            Err(interruption) => interruption,
        };
        if subscription.position() > subscription.from {
            pauses = back_off(LAST_PAUSE);
        }
        let failure = match interruption {
            Interruption::Stopped => return None,
            Interruption::Ended(end) => return Some(end),
            Interruption::Store(error) => SubscriberFailure::of_event_store(&error),
            Interruption::Failed(failure) => failure,
            Interruption::Parked(poison) => {
                subscription.wait_while_parked(poison).await?;
                continue;
            }
        };
        subscription.record_failure(&failure);
        subscription
            .pause(pauses.next().unwrap_or(LAST_PAUSE))
            .await?;
    }
}

/// The subscriptions of one subscriber, one after another.
struct Subscription<'a, S> {
    subscriber: &'a S,
    store: &'a dyn EventLog,
    stop: &'a CancellationToken,
    /// The position at the begin of the last subscription.
    from: Option<EventId>,
    /// The last event that cannot be read and that the subscriber has passed over.
    passed: Option<EventId>,
}

impl<S: Subscriber> Subscription<'_, S> {
    /// Subscribes once. Returns `Ok` behind an event that cannot be read, and otherwise the reason for the end.
    async fn run(&mut self) -> Result<(), Interruption<S::End>> {
        self.from = self.position();
        self.subscriber.begin().await?;
        self.from = self.position();
        let mut received = self.from.max(self.passed);
        let error = match self.handle_events(&mut received).await {
            Ok(never) => match never {},
            Err(Interruption::Store(error)) => error,
            Err(interruption) => return Err(interruption),
        };
        let Some(poison) = find_unreadable_event(self.store, received, &error).await else {
            return Err(error.into());
        };
        self.subscriber.pass_unreadable(&poison).await?;
        self.passed = Some(poison.id);
        Ok(())
    }

    /// Reads batch after batch behind an event and lets the subscriber handle them. `received` becomes the last of these
    /// events: the position is before it while the subscriber lets events wait.
    async fn handle_events(
        &self,
        received: &mut Option<EventId>,
    ) -> Result<Infallible, Interruption<S::End>> {
        let from = *received;
        let newest = newest_id_or_bound(self.store, from).await?;
        let mut catch_up = CatchUp::new(newest, from);
        catch_up.publish(from, &self.subscriber.running());
        let options = ObserveOptions::recursive_after(from);
        let mut reader = BatchReader::new(self.store.observe(Subject::root(), options), S::BATCH);
        let mut subscribed = std::pin::pin!(self.record_subscribed());
        let mut is_subscribed = false;
        let mut read_ahead = None;
        loop {
            if let Some(end) = self.subscriber.end() {
                return Err(Interruption::Ended(end));
            }
            let gathers = self.subscriber.gathers_events();
            if gathers && !catch_up.is_over() && read_ahead.is_none() {
                let _ = timeout(BATCHING_WINDOW, reader.fill(newest)).await;
            }
            let (batch, last, failure) = match read_ahead.take() {
                Some(next) => next,
                None => tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return Err(Interruption::Stopped),
                    batch = reader.next_batch() => self.prepare(batch),
                    () = &mut subscribed, if !is_subscribed => {
                        is_subscribed = true;
                        continue;
                    }
                },
            };
            let mut handling = self.subscriber.handle(batch);
            tokio::select! {
                biased;
                handled = &mut handling => handled?,
                // A catch-up reads and prepares the next batch meanwhile.
                next = reader.next_full_batch(newest), if !catch_up.is_over() && failure.is_none() => {
                    read_ahead = Some(self.prepare(next));
                    handling.await?;
                }
            }
            *received = last.max(*received);
            catch_up.publish(self.position().max(self.passed), &self.subscriber.running());
            if let Some(failure) = failure {
                return Err(failure.unwrap_or_else(subscription_ended).into());
            }
            if self.stop.is_cancelled() {
                return Err(Interruption::Stopped);
            }
            if gathers && catch_up.is_over() {
                let _ = timeout(BATCHING_WINDOW, reader.gather()).await;
            }
        }
    }

    /// Returns the prepared batch, its last event and the failure behind it.
    fn prepare(
        &self,
        batch: EventBatch,
    ) -> (S::Batch, Option<EventId>, Option<Option<StoreError>>) {
        let last = batch.last();
        (self.subscriber.prepare(batch.events), last, batch.failure)
    }

    /// Records after some time that the event store has accepted the subscription. An action that failed is made again
    /// meanwhile.
    async fn record_subscribed(&self) {
        tokio::time::sleep(SUBSCRIBED_AFTER).await;
        for progress in self.subscriber.running() {
            let state = progress.state();
            if state.trouble().map(|trouble| trouble.cause) != Some(TroubleCause::Action) {
                progress.record_success();
            }
        }
    }

    /// Returns the last event that all running components have handled.
    fn position(&self) -> Option<EventId> {
        let running = self.subscriber.running().into_iter();
        running.map(|progress| progress.position()).min().flatten()
    }

    fn record_failure(&self, failure: &SubscriberFailure) {
        for progress in self.subscriber.running() {
            tracing::warn!(
                subscriber = progress.name(),
                error = failure.reason,
                "the {} does not follow the event store and subscribes again",
                progress.kind()
            );
            progress.record_failure(failure.clone());
        }
    }

    /// Waits for the next attempt, which an operator can bring forward. Returns `None` if it is stopped.
    async fn pause(&self, pause: Duration) -> Option<()> {
        let running = self.subscriber.running();
        let requested = running
            .iter()
            .map(SubscriberProgress::wait_for_requested_attempt);
        let mut requested: FuturesUnordered<_> = requested.collect();
        let pausing = async {
            tokio::select! {
                biased;
                () = tokio::time::sleep(pause) => {}
                Some(()) = requested.next() => {}
            }
        };
        self.until_stopped(pausing).await
    }

    /// Waits until a poison event no longer stops the subscriber. Returns `None` if it is stopped.
    async fn wait_while_parked(&self, poison: PoisonEvent) -> Option<()> {
        let settled = self.subscriber.is_settled(&poison);
        if self.until_stopped(settled).await? {
            return Some(());
        }
        let running = self.subscriber.running();
        for progress in &running {
            tracing::error!(
                subscriber = progress.name(),
                event = %poison.id,
                error = poison.reason,
                "the {} is parked at an event that it cannot handle; the others go on",
                progress.kind()
            );
            progress.record_failure(poison.clone().into());
        }
        while running.iter().all(SubscriberProgress::is_stopped) {
            self.pause(POLL_INTERVAL).await?;
            let settled = self.subscriber.is_settled(&poison);
            if self.until_stopped(settled).await? {
                tracing::info!(event = %poison.id, "an event no longer stops a subscriber: another process has handled it, or an operator skips it");
                running
                    .iter()
                    .for_each(SubscriberProgress::record_resumption);
            }
        }
        Some(())
    }

    /// Runs the work. Returns `None` if the subscriber is stopped before its end.
    async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.stop.run_until_cancelled(work).await
    }
}

/// The error for a subscription that ends without one.
fn subscription_ended() -> StoreError {
    StoreError::Unavailable {
        address: "behind this subscription".to_owned(),
        reason: "it ended the stream of events".to_owned(),
    }
}
