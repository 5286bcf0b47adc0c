//! The progress of subscribers: their positions, failures, rebuilds and deadlines.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use es_event::{EventId, Hash, PoisonEvent};
use jiff::Timestamp;
use tokio::sync::{Notify, watch};

use super::{
    HeldKeys, SubscriberFailure, SubscriberState,
    delivery_log::SharedDeliveryLog,
    operator::{ComponentKind, OperatorCommand},
};

/// The progress and the status of a component that follows the events: a read model, its shadow table, or a
/// reaction. Clones share it.
///
/// ```
/// use es_subscribe::{SubscriberProgress, operator::ComponentKind};
///
/// let progress = SubscriberProgress::new(ComponentKind::ReadModel, "book_copies");
/// assert!(progress.position().is_none() && !progress.has_caught_up());
/// assert_eq!(progress.state().name(), "working");
/// ```
#[derive(Debug, Clone)]
pub struct SubscriberProgress {
    kind: ComponentKind,
    name: &'static str,
    status: Arc<watch::Sender<SubscriberStatus>>,
    /// Ends the pause before a retry.
    attempt: Arc<Notify>,
    pub(super) deliveries: SharedDeliveryLog,
}

/// The status of one component at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct SubscriberStatus {
    pub(super) position: Option<EventId>,
    has_caught_up: bool,
    state: SubscriberState,
    pace: Option<RebuildPace>,
    /// The progress of the shadow table of a read model, if one is being built.
    shadow: Option<SubscriberProgress>,
    /// The last announced erasure of personal data before the rows of a read model were built.
    erasure: Option<Hash>,
    deadlines: OpenDeadlines,
    held: HeldKeys,
}

/// The deadlines that a reaction has neither met nor cancelled.
///
/// ```
/// use es_subscribe::OpenDeadlines;
///
/// let none = OpenDeadlines::default();
/// assert_eq!((none.count, none.next), (0, None));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenDeadlines {
    /// The number of open deadlines.
    pub count: usize,
    /// The time of the next deadline.
    pub next: Option<Timestamp>,
}

/// The speed of a rebuild, or of another catch-up with the event store.
///
/// ```
/// use es_subscribe::RebuildPace;
///
/// let pace = RebuildPace { events_per_second: 400_000, events_left: 800_000, seconds_left: Some(2) };
/// assert_eq!(pace.seconds_left, Some(pace.events_left / pace.events_per_second));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildPace {
    /// The number of events that are handled in a second.
    pub events_per_second: u64,
    /// The number of events that were stored at the start and are not handled yet.
    pub events_left: u64,
    /// The estimated time for these events, unless there is no progress.
    pub seconds_left: Option<u64>,
}

/// The reason why read models have not reached a position.
///
/// ```
/// use std::time::Duration;
///
/// use es_subscribe::{ProgressError, SubscriberProgress, operator::ComponentKind};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let progress = SubscriberProgress::new(ComponentKind::ReadModel, "book_copies");
/// let reached = progress.wait_until_reached(None, Duration::ZERO).await;
/// assert_eq!(reached, Err(ProgressError::Rebuilding));
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProgressError {
    /// A read model has not applied all events that were stored before the start.
    #[error("the read model is being rebuilt from the event store")]
    Rebuilding,
    /// A read model has not applied this event.
    #[error("the read model has not reached event {0} yet")]
    NotReached(EventId),
    /// A read model has stopped.
    #[error("the read model has stopped; the health check says why")]
    Stopped,
    /// The rows of a read model lack events, because they cannot be written.
    #[error(
        "the rows of the read model are out of date and cannot be written; the health check says why"
    )]
    Stale,
}

impl SubscriberProgress {
    /// Creates the progress of a component that has not begun.
    #[must_use]
    pub fn new(kind: ComponentKind, name: &'static str) -> Self {
        Self {
            kind,
            name,
            status: Arc::new(watch::Sender::new(SubscriberStatus::default())),
            attempt: Arc::default(),
            deliveries: Arc::default(),
        }
    }

    /// Returns the kind of the component.
    #[must_use]
    pub const fn kind(&self) -> ComponentKind {
        self.kind
    }

    /// Returns the name of the component.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the last event that was handled. Queries of a read model can see it.
    #[must_use]
    pub fn position(&self) -> Option<EventId> {
        self.status.borrow().position
    }

    /// Returns the number of events between the position and the newest event of the store.
    #[must_use]
    pub fn events_behind(&self, newest: Option<EventId>) -> u64 {
        EventId::count_to(newest).saturating_sub(EventId::count_to(self.position()))
    }

    /// Returns the state of the component: whether it works, and if not, why.
    #[must_use]
    pub fn state(&self) -> SubscriberState {
        self.status.borrow().state.clone()
    }

    /// Returns true if all events that were stored before the start were handled.
    #[must_use]
    pub fn has_caught_up(&self) -> bool {
        self.status.borrow().has_caught_up
    }

    /// Returns true if the component has stopped, so that somebody has to remove the cause.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.status.borrow().state.is_stopped()
    }

    /// Returns the event that the component cannot handle, if there is one.
    #[must_use]
    pub fn poison_event(&self) -> Option<PoisonEvent> {
        self.status.borrow().state.poison_event().cloned()
    }

    /// Returns the keys that the component holds, while all others go on.
    #[must_use]
    pub fn held_keys(&self) -> HeldKeys {
        self.status.borrow().held.clone()
    }

    /// Returns the commands of operators that help the component.
    #[must_use]
    pub fn exits(&self) -> Vec<OperatorCommand> {
        let status = self.status.borrow();
        let mut exits = status.state.exits(self.kind);
        if !status.held.is_empty() {
            for more in [OperatorCommand::Retry, OperatorCommand::Skip] {
                if !exits.contains(&more) {
                    exits.push(more);
                }
            }
        }
        exits
    }

    /// Returns the speed of the catch-up that is going on.
    #[must_use]
    pub fn rebuild_pace(&self) -> Option<RebuildPace> {
        let status = self.status.borrow();
        status.pace.filter(|_| !status.has_caught_up)
    }

    /// Returns the progress of the shadow table of a read model, if one is being built.
    #[must_use]
    pub fn shadow_progress(&self) -> Option<Self> {
        self.status.borrow().shadow.clone()
    }

    /// Returns the open deadlines of a reaction.
    #[must_use]
    pub fn open_deadlines(&self) -> OpenDeadlines {
        self.status.borrow().deadlines
    }

    /// Waits until an event and all events that were stored before the start are handled. Without an event, rows
    /// that cannot be brought up to date are an error, too.
    ///
    /// # Errors
    /// They are not handled within `limit`, the component has stopped, or its rows are out of date.
    pub async fn wait_until_reached(
        &self,
        id: Option<EventId>,
        limit: Duration,
    ) -> Result<(), ProgressError> {
        let mut status = self.status.subscribe();
        let is_stale = |status: &SubscriberStatus| id.is_none() && status.state.has_stale_rows();
        let is_reached = |status: &SubscriberStatus| {
            status.has_caught_up && status.position >= id && !is_stale(status)
        };
        let decided = status
            .wait_for(|status| status.state.is_stopped() || is_stale(status) || is_reached(status));
        let error = match tokio::time::timeout(limit, decided).await {
            Ok(Ok(status)) if is_reached(&status) => return Ok(()),
            Ok(Ok(status)) if status.has_caught_up && is_stale(&status) => {
                Some(ProgressError::Stale)
            }
            Ok(Ok(status)) if status.state.is_stopped() => Some(ProgressError::Stopped),
            Ok(Ok(_) | Err(_)) | Err(_) => None,
        };
        Err(
            error.unwrap_or_else(|| match id.filter(|_| self.has_caught_up()) {
                Some(id) => ProgressError::NotReached(id),
                None => ProgressError::Rebuilding,
            }),
        )
    }

    /// Subscribes to all later changes.
    pub(super) fn subscribe(&self) -> watch::Receiver<SubscriberStatus> {
        self.status.subscribe()
    }

    /// Waits until an operator wants another attempt.
    #[doc(hidden)]
    pub async fn wait_for_requested_attempt(&self) {
        self.attempt.notified().await;
    }

    /// Records the last event that was handled. A component that advances works again.
    #[doc(hidden)]
    pub fn record_position(&self, position: Option<EventId>) {
        self.status.send_modify(|status| {
            if position > status.position && !status.state.is_stopped_at_event() {
                status.state = SubscriberState::Working;
            }
            status.position = position;
        });
    }

    /// Records that all events from before the start were handled.
    #[doc(hidden)]
    pub fn record_catch_up(&self) {
        self.status
            .send_modify(|status| status.has_caught_up = true);
    }

    /// Records that the rows are useless, so that queries wait for a rebuild.
    #[doc(hidden)]
    pub fn record_rebuild_start(&self) {
        self.status
            .send_modify(|status| status.has_caught_up = false);
    }

    /// Records the open deadlines of a reaction.
    #[doc(hidden)]
    pub fn record_deadlines(&self, deadlines: OpenDeadlines) {
        self.status
            .send_modify(|status| status.deadlines = deadlines);
    }

    /// Records the keys that the component holds.
    #[doc(hidden)]
    pub fn record_held_keys(&self, held: HeldKeys) {
        self.status.send_if_modified(|status| {
            let is_changed = !status.held.is_same(&held);
            status.held = held;
            is_changed
        });
    }

    /// Records a failure, unless the component has stopped at an event.
    #[doc(hidden)]
    pub fn record_failure(&self, failure: SubscriberFailure) {
        self.status.send_modify(|status| {
            if !status.state.is_stopped_at_event() {
                status.state.record_failure(failure);
            }
        });
    }

    /// Records that the component follows the event store, unless it has stopped at an event.
    #[doc(hidden)]
    pub fn record_success(&self) {
        let is_changed = |state: &SubscriberState| {
            !matches!(state, SubscriberState::Working) && !state.is_stopped_at_event()
        };
        self.status.send_if_modified(|status| {
            let is_changed = is_changed(&status.state);
            if is_changed {
                status.state = SubscriberState::Working;
            }
            is_changed
        });
    }

    /// Records that nothing stops the component any more. It remains retrying until an attempt succeeds.
    pub(crate) fn record_resumption(&self) {
        self.status.send_modify(|status| {
            if status.state.is_stopped() {
                status.state = SubscriberState::Working;
            }
        });
    }

    /// Lets the component try again at once.
    #[doc(hidden)]
    pub fn request_attempt(&self) {
        self.record_resumption();
        self.attempt.notify_one();
    }

    /// Records that the component begins anew with the first event.
    #[doc(hidden)]
    pub fn record_reset(&self) {
        self.status
            .send_modify(|status| *status = SubscriberStatus::default());
    }

    pub(crate) fn record_rebuild_pace(&self, pace: RebuildPace) {
        self.status.send_modify(|status| status.pace = Some(pace));
    }

    /// Records the progress of the shadow table, or that there is none.
    #[doc(hidden)]
    pub fn set_shadow_progress(&self, shadow: Option<Self>) {
        self.status.send_modify(|status| status.shadow = shadow);
    }

    /// Records that the shadow table has replaced the current table.
    #[doc(hidden)]
    pub fn record_swap(&self, position: Option<EventId>, held: HeldKeys) {
        self.status.send_modify(|status| {
            *status = SubscriberStatus {
                position,
                held,
                has_caught_up: true,
                erasure: status.erasure,
                ..SubscriberStatus::default()
            };
        });
    }

    /// Records the last announced erasure of personal data before the rows were built.
    #[doc(hidden)]
    pub fn record_erasure(&self, erasure: Option<Hash>) {
        self.status
            .send_if_modified(|status| std::mem::replace(&mut status.erasure, erasure) != erasure);
    }

    /// Returns the last announced erasure of personal data before the rows were built.
    #[doc(hidden)]
    #[must_use]
    pub fn erasure(&self) -> Option<Hash> {
        self.status.borrow().erasure
    }

    /// Waits until the rows are those that were built after an erasure of personal data.
    #[doc(hidden)]
    pub async fn wait_until_built_after(&self, erasure: Hash) {
        let mut status = self.status.subscribe();
        let is_built = |status: &SubscriberStatus| status.erasure == Some(erasure);
        // This progress keeps the channel open.
        let _ = status.wait_for(is_built).await;
    }
}
