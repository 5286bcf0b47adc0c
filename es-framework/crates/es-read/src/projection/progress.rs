//! The progress of read models: their positions, failures and rebuilds.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::watch;

use super::PoisonEvent;
use es_event::EventId;
use es_runtime::operator::{SubscriberFailure, SubscriberState};

/// The progress of each read model.
///
/// ```
/// use es_framework::projection::ProgressRegistry;
///
/// /// The read models that wait for an operator.
/// fn stopped(positions: &ProgressRegistry) -> Vec<&str> {
///     let stopped = positions.iter().filter(|(_, progress)| progress.is_stopped());
///     stopped.map(|(name, _)| name).collect()
/// }
///
/// assert!(stopped(&ProgressRegistry::default()).is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProgressRegistry(Arc<BTreeMap<&'static str, ReadModelProgress>>);

impl ProgressRegistry {
    pub(super) fn for_models(models: impl IntoIterator<Item = &'static str>) -> Self {
        let begin = |name| (name, ReadModelProgress::default());
        Self(Arc::new(models.into_iter().map(begin).collect()))
    }

    /// Returns the progress of the read model with this name.
    #[must_use]
    pub fn find_progress(&self, model: &str) -> Option<&ReadModelProgress> {
        self.0.get(model)
    }

    /// Returns the progress of all read models, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &ReadModelProgress)> {
        self.0.iter().map(|(name, progress)| (*name, progress))
    }

    /// Waits until each of these read models has applied an event and all events that were stored before
    /// the start. Waits for all read models if `models` is empty.
    ///
    /// # Errors
    /// A read model does not reach the event within `limit`, or it has stopped.
    pub async fn wait_until_reached(
        &self,
        models: &[&str],
        id: Option<EventId>,
        limit: Duration,
    ) -> Result<(), ProgressError> {
        let deadline = tokio::time::Instant::now().checked_add(limit);
        let is_selected = |name: &&str| models.is_empty() || models.contains(name);
        for (_, progress) in self.iter().filter(|(name, _)| is_selected(name)) {
            let now = tokio::time::Instant::now();
            let left = deadline.map_or(limit, |deadline| deadline.saturating_duration_since(now));
            progress.wait_until_reached(id, left).await?;
        }
        Ok(())
    }
}

/// The progress of a read model.
///
/// ```
/// use es_framework::projection::ReadModelProgress;
///
/// let progress = ReadModelProgress::default();
/// assert!(progress.visible_position().is_none() && !progress.has_caught_up());
/// assert_eq!(progress.state().name(), "working");
/// ```
#[derive(Debug, Clone)]
pub struct ReadModelProgress {
    state: Arc<watch::Sender<ProgressSnapshot>>,
}

/// The position, failure and rebuild of one read model at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgressSnapshot {
    pub(super) position: Option<EventId>,
    rebuilt: bool,
    state: SubscriberState,
    pace: Option<RebuildPace>,
    /// The progress of the shadow table, if one is being built.
    shadow: Option<ReadModelProgress>,
}

/// The speed of a rebuild.
///
/// ```
/// use es_framework::projection::RebuildPace;
///
/// let pace = RebuildPace { events_per_second: 400_000, events_left: 800_000, seconds_left: Some(2) };
/// assert_eq!(pace.seconds_left, Some(pace.events_left / pace.events_per_second));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildPace {
    /// The number of events that the rebuild applies in a second.
    pub events_per_second: u64,
    /// The number of events that were stored at the start of the rebuild and are not applied yet.
    pub events_left: u64,
    /// The estimated time for these events, unless the rebuild makes no progress.
    pub seconds_left: Option<u64>,
}

/// The reason why read models have not reached a position.
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::projection::{ReadModelProgress, ProgressError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let reached = ReadModelProgress::default().wait_until_reached(None, Duration::ZERO).await;
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

impl Default for ReadModelProgress {
    fn default() -> Self {
        let state = Arc::new(watch::Sender::new(ProgressSnapshot::default()));
        Self { state }
    }
}

impl ReadModelProgress {
    /// Returns the last event that queries can see.
    #[must_use]
    pub fn visible_position(&self) -> Option<EventId> {
        self.state.borrow().position
    }

    /// Returns the state of the read model: whether it works, and if not, why.
    #[must_use]
    pub fn state(&self) -> SubscriberState {
        self.state.borrow().state.clone()
    }

    /// Returns true if queries can see all events that were stored before the start.
    #[must_use]
    pub fn has_caught_up(&self) -> bool {
        self.state.borrow().rebuilt
    }

    /// Returns true if the read model has stopped, so that somebody has to remove the cause.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state.borrow().state.is_stopped()
    }

    /// Returns the event that the read model cannot handle, if it has stopped at one.
    #[must_use]
    pub fn poison_event(&self) -> Option<PoisonEvent> {
        self.state.borrow().state.poison_event().cloned()
    }

    /// Returns the speed of the rebuild that is going on.
    #[must_use]
    pub fn rebuild_pace(&self) -> Option<RebuildPace> {
        let state = self.state.borrow();
        state.pace.filter(|_| !state.rebuilt)
    }

    /// Returns the progress of the shadow table, if one is being built.
    #[must_use]
    pub fn shadow_progress(&self) -> Option<Self> {
        self.state.borrow().shadow.clone()
    }

    /// Waits until queries can see an event and all events that were stored before the start. Without an
    /// event, rows that cannot be brought up to date are an error, too.
    ///
    /// # Errors
    /// Queries cannot see them within `limit`, the read model has stopped, or its rows are out of date.
    pub async fn wait_until_reached(
        &self,
        id: Option<EventId>,
        limit: Duration,
    ) -> Result<(), ProgressError> {
        let mut state = self.state.subscribe();
        let is_stale = |state: &ProgressSnapshot| id.is_none() && state.state.has_stale_rows();
        let is_reached =
            |state: &ProgressSnapshot| state.rebuilt && state.position >= id && !is_stale(state);
        let decided = state
            .wait_for(|state| state.state.is_stopped() || is_stale(state) || is_reached(state));
        let error = match tokio::time::timeout(limit, decided).await {
            Ok(Ok(state)) if is_reached(&state) => return Ok(()),
            Ok(Ok(state)) if state.rebuilt && is_stale(&state) => Some(ProgressError::Stale),
            Ok(Ok(state)) if state.state.is_stopped() => Some(ProgressError::Stopped),
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
    pub(super) fn subscribe(&self) -> watch::Receiver<ProgressSnapshot> {
        self.state.subscribe()
    }

    /// Records the last event that queries can see. A read model that advances works again.
    pub(super) fn record_position(&self, position: Option<EventId>) {
        self.state.send_modify(|state| {
            if position > state.position && !state.state.is_stopped_at_event() {
                state.state = SubscriberState::Working;
            }
            state.position = position;
        });
    }

    pub(super) fn record_catch_up(&self) {
        self.state.send_modify(|state| state.rebuilt = true);
    }

    /// Records that the rows are useless, so that queries wait for a rebuild.
    pub(super) fn record_rebuild_start(&self) {
        self.state.send_modify(|state| state.rebuilt = false);
    }

    /// Records a failure, unless the read model has stopped at an event.
    pub(super) fn record_failure(&self, failure: SubscriberFailure) {
        self.state.send_modify(|state| {
            if !state.state.is_stopped_at_event() {
                state.state.record_failure(failure);
            }
        });
    }

    /// Records that the read model follows the event store, unless it has stopped at an event.
    pub(super) fn record_success(&self) {
        let is_changed = |state: &SubscriberState| {
            !matches!(state, SubscriberState::Working) && !state.is_stopped_at_event()
        };
        self.state.send_if_modified(|state| {
            let is_changed = is_changed(&state.state);
            if is_changed {
                state.state = SubscriberState::Working;
            }
            is_changed
        });
    }

    /// Clears the failure, so that the read model tries again.
    pub(super) fn record_resumption(&self) {
        self.state
            .send_modify(|state| state.state = SubscriberState::Working);
    }

    /// Records that the table was replaced by an empty one, from the first event of which the read model
    /// begins anew.
    pub(super) fn record_reset(&self) {
        self.state
            .send_modify(|state| *state = ProgressSnapshot::default());
    }

    pub(super) fn record_rebuild_pace(&self, pace: RebuildPace) {
        self.state.send_modify(|state| state.pace = Some(pace));
    }

    /// Records the progress of the shadow table, or that there is none.
    pub(super) fn set_shadow_progress(&self, shadow: Option<Self>) {
        self.state.send_modify(|state| state.shadow = shadow);
    }

    /// Records that the shadow table has replaced the current table.
    pub(super) fn record_swap(&self, position: Option<EventId>) {
        self.state.send_modify(|state| {
            *state = ProgressSnapshot {
                position,
                rebuilt: true,
                ..ProgressSnapshot::default()
            };
        });
    }
}

#[cfg(test)]
mod tests {
    use es_runtime::operator::TroubleCause;

    use super::*;

    const BRIEF: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_position_that_comes_in_time_is_reached() {
        let progress = ReadModelProgress::default();
        progress.record_catch_up();
        let waiting = progress.clone();
        let wanted = EventId::new(7);
        let waiter = tokio::spawn(async move {
            waiting
                .wait_until_reached(wanted, Duration::from_secs(10))
                .await
        });
        progress.record_position(EventId::new(6));
        progress.record_position(EventId::new(8));
        assert_eq!(waiter.await.unwrap(), Ok(()));
        assert_eq!(progress.wait_until_reached(wanted, BRIEF).await, Ok(()));
    }

    #[tokio::test]
    async fn a_position_that_does_not_come_is_an_error() {
        let progress = ReadModelProgress::default();
        progress.record_catch_up();
        let wanted = EventId::FIRST;
        let reached = progress.wait_until_reached(Some(wanted), BRIEF).await;
        assert_eq!(reached, Err(ProgressError::NotReached(wanted)));
    }

    #[tokio::test]
    async fn nothing_is_reached_before_the_rebuild_is_over() {
        let progress = ReadModelProgress::default();
        progress.record_position(EventId::new(9));
        let reached = progress.wait_until_reached(EventId::new(1), BRIEF).await;
        assert_eq!(reached, Err(ProgressError::Rebuilding));
        progress.record_catch_up();
        assert_eq!(progress.wait_until_reached(None, BRIEF).await, Ok(()));
    }

    #[tokio::test]
    async fn nobody_waits_for_what_has_stopped() {
        let progress = ReadModelProgress::default();
        progress.record_position(EventId::new(9));
        progress.record_catch_up();
        progress.record_failure(PoisonEvent::unreadable(EventId::FIRST, "poison").into());
        let patience = Duration::from_secs(600);
        let reached = progress
            .wait_until_reached(EventId::new(10), patience)
            .await;
        assert_eq!(reached, Err(ProgressError::Stopped));
        assert_eq!(
            progress.wait_until_reached(EventId::new(9), BRIEF).await,
            Ok(())
        );
    }

    #[tokio::test]
    async fn rows_that_cannot_be_written_answer_only_for_the_events_that_they_have() {
        let progress = ReadModelProgress::default();
        progress.record_position(EventId::new(9));
        progress.record_catch_up();
        let full = SubscriberFailure::new(TroubleCause::Space, false, "the disk is full");
        progress.record_failure(full);
        let patience = Duration::from_secs(600);
        for (wanted, reached) in [
            (None, Err(ProgressError::Stale)),
            (EventId::new(9), Ok(())),
            (EventId::new(10), Err(ProgressError::Stopped)),
        ] {
            assert_eq!(progress.wait_until_reached(wanted, patience).await, reached);
        }
        progress.record_position(EventId::new(10));
        assert_eq!(progress.state(), SubscriberState::Working);
        assert_eq!(progress.wait_until_reached(None, BRIEF).await, Ok(()));
    }

    #[tokio::test]
    async fn one_read_model_does_not_wait_for_another() {
        let positions = ProgressRegistry::for_models(["books", "loans"]);
        positions.find_progress("books").unwrap().record_catch_up();
        assert_eq!(
            positions.wait_until_reached(&["books"], None, BRIEF).await,
            Ok(())
        );
        let all = positions.wait_until_reached(&[], None, BRIEF).await;
        assert_eq!(all, Err(ProgressError::Rebuilding));
    }
}
