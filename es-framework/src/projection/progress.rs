//! How far the read models have come, for those who wait for a position or ask how things stand.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::event::EventId;

/// How far the read models have come.
#[derive(Debug, Clone)]
pub struct Progress {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Clone, Default)]
struct State {
    position: Option<EventId>,
    rebuilt: bool,
    trouble: Option<String>,
}

/// The read models did not come as far as was asked for within the time given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProgressError {
    /// They lack events that were stored before the start.
    #[error("the read models are being rebuilt from the event store")]
    Rebuilding,
    /// They lack the event that the caller named.
    #[error("the read models have not reached event {0} yet")]
    NotReached(EventId),
}

impl Default for Progress {
    fn default() -> Self {
        let state = Arc::new(watch::Sender::new(State::default()));
        Self { state }
    }
}

impl Progress {
    /// The last event whose effects can be queried.
    #[must_use]
    pub fn position(&self) -> Option<EventId> {
        self.state.borrow().position
    }

    /// What keeps the read models from going on, if anything.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.state.borrow().trouble.clone()
    }

    /// Whether everything that was stored before the start can be queried.
    #[must_use]
    pub fn is_rebuilt(&self) -> bool {
        self.state.borrow().rebuilt
    }

    /// Waits until the effects of an event, and of everything that was stored before the start,
    /// can be queried.
    ///
    /// # Errors
    /// They cannot within `limit`.
    pub async fn reach(&self, id: Option<EventId>, limit: Duration) -> Result<(), ProgressError> {
        let mut state = self.state.subscribe();
        let reached = state.wait_for(|state| state.rebuilt && state.position >= id);
        if let Ok(Ok(_)) = tokio::time::timeout(limit, reached).await {
            return Ok(());
        }
        Err(match id.filter(|_| self.is_rebuilt()) {
            Some(id) => ProgressError::NotReached(id),
            None => ProgressError::Rebuilding,
        })
    }

    pub(super) fn reached(&self, position: Option<EventId>) {
        self.state.send_modify(|state| {
            state.position = position;
            state.trouble = None;
        });
    }

    pub(super) fn rebuilt(&self) {
        self.state.send_modify(|state| state.rebuilt = true);
    }

    pub(super) fn stopped(&self, trouble: String) {
        self.state
            .send_modify(|state| state.trouble = Some(trouble));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEF: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_position_that_comes_in_time_is_reached() {
        let progress = Progress::default();
        progress.rebuilt();
        let waiting = progress.clone();
        let wanted = EventId::new(7);
        let waiter =
            tokio::spawn(async move { waiting.reach(wanted, Duration::from_secs(10)).await });
        progress.reached(EventId::new(6));
        progress.reached(EventId::new(8));
        assert_eq!(waiter.await.unwrap(), Ok(()));
        assert_eq!(progress.reach(wanted, BRIEF).await, Ok(()));
    }

    #[tokio::test]
    async fn a_position_that_does_not_come_is_an_error() {
        let progress = Progress::default();
        progress.rebuilt();
        let wanted = EventId::FIRST;
        let reached = progress.reach(Some(wanted), BRIEF).await;
        assert_eq!(reached, Err(ProgressError::NotReached(wanted)));
    }

    #[tokio::test]
    async fn nothing_is_reached_before_the_rebuild_is_over() {
        let progress = Progress::default();
        progress.reached(EventId::new(9));
        let reached = progress.reach(EventId::new(1), BRIEF).await;
        assert_eq!(reached, Err(ProgressError::Rebuilding));
        progress.rebuilt();
        assert_eq!(progress.reach(None, BRIEF).await, Ok(()));
    }
}
