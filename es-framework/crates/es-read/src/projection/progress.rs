//! The progress of read models: their positions, failures and rebuilds.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::watch;

use super::PoisonEvent;
use es_event::EventId;

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
/// assert_eq!(progress.trouble(), None);
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
    /// The failure that is retried, or the poison event as text.
    trouble: Option<String>,
    /// The event at which the read model has stopped.
    refused: Option<PoisonEvent>,
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
    /// A read model has stopped at a poison event.
    #[error("the read model stopped at an event that it cannot take; the health check names it")]
    Stopped,
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

    /// Returns the failure that delays the read model, or the poison event that has stopped it.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.state.borrow().trouble.clone()
    }

    /// Returns true if queries can see all events that were stored before the start.
    #[must_use]
    pub fn has_caught_up(&self) -> bool {
        self.state.borrow().rebuilt
    }

    /// Returns true if the read model has stopped at a poison event.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state.borrow().refused.is_some()
    }

    /// Returns the poison event at which the read model has stopped.
    #[must_use]
    pub fn poison_event(&self) -> Option<PoisonEvent> {
        self.state.borrow().refused.clone()
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

    /// Waits until queries can see an event and all events that were stored before the start.
    ///
    /// # Errors
    /// Queries cannot see them within `limit`, or the read model has stopped.
    pub async fn wait_until_reached(
        &self,
        id: Option<EventId>,
        limit: Duration,
    ) -> Result<(), ProgressError> {
        let mut state = self.state.subscribe();
        let is_reached = |state: &ProgressSnapshot| state.rebuilt && state.position >= id;
        let decided = state.wait_for(|state| state.refused.is_some() || is_reached(state));
        let reached = match tokio::time::timeout(limit, decided).await {
            Ok(Ok(state)) => is_reached(&state),
            Ok(Err(_)) | Err(_) => false,
        };
        if reached {
            return Ok(());
        }
        Err(match id.filter(|_| self.has_caught_up()) {
            _ if self.is_stopped() => ProgressError::Stopped,
            Some(id) => ProgressError::NotReached(id),
            None => ProgressError::Rebuilding,
        })
    }

    /// Subscribes to all later changes.
    pub(super) fn subscribe(&self) -> watch::Receiver<ProgressSnapshot> {
        self.state.subscribe()
    }

    pub(super) fn record_position(&self, position: Option<EventId>) {
        self.state.send_modify(|state| {
            state.position = position;
            state.trouble = state.refused.as_ref().map(ToString::to_string);
        });
    }

    pub(super) fn record_catch_up(&self) {
        self.state.send_modify(|state| state.rebuilt = true);
    }

    /// Records that the rows are useless, so that queries wait for a rebuild.
    pub(super) fn record_rebuild_start(&self) {
        self.state.send_modify(|state| state.rebuilt = false);
    }

    /// Records a failure that is retried.
    pub(super) fn record_trouble(&self, trouble: &str) {
        self.state
            .send_modify(|state| state.trouble = Some(trouble.to_owned()));
    }

    /// Records the poison event at which the read model stops.
    pub(super) fn record_stop(&self, refused: PoisonEvent) {
        self.state.send_modify(|state| {
            state.trouble = Some(refused.to_string());
            state.refused = Some(refused);
        });
    }

    /// Clears the poison event, so that the read model resumes there.
    pub(super) fn record_resumption(&self) {
        self.state.send_modify(|state| {
            state.trouble = None;
            state.refused = None;
        });
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
        progress.record_stop(PoisonEvent {
            id: EventId::FIRST,
            subject: es_event::Subject::root(),
            reason: "poison".into(),
        });
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
