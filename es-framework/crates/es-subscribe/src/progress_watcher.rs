//! Waits for changes of the positions of read models.

use es_event::EventId;
use futures_util::future::select_all;
use tokio::sync::watch;

use super::{ProgressRegistry, SubscriberProgress, progress::SubscriberStatus};

/// Waits for changes of some read models, for live queries.
#[doc(hidden)]
#[derive(Debug)]
pub struct ProgressWatcher(Vec<watch::Receiver<SubscriberStatus>>);

impl ProgressWatcher {
    /// Subscribes to the read models with these names, or to all of them if there is no name.
    pub fn subscribe(models: &[&str], positions: &ProgressRegistry) -> Self {
        let selected = positions
            .iter()
            .filter(|one| models.is_empty() || models.contains(&one.name()));
        Self(selected.map(SubscriberProgress::subscribe).collect())
    }

    /// Returns the last event that all of these read models have applied.
    pub fn applied_position(&mut self) -> Option<EventId> {
        let states = self.0.iter_mut();
        let positions = states.map(|state| state.borrow_and_update().position);
        positions.min().flatten()
    }

    /// Waits for the next change.
    pub async fn wait_for_change(&mut self) {
        let models = self.0.iter_mut().map(|state| {
            Box::pin(async move {
                if state.changed().await.is_err() {
                    // The processor has ended.
                    std::future::pending::<()>().await;
                }
            })
        });
        let models: Vec<_> = models.collect();
        if models.is_empty() {
            std::future::pending().await
        } else {
            drop(select_all(models).await)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::operator::ComponentKind;

    #[tokio::test]
    async fn what_another_read_model_takes_is_no_change() {
        let positions = ProgressRegistry::new(ComponentKind::ReadModel, ["books", "loans"]);
        let mut changes = ProgressWatcher::subscribe(&["books"], &positions);
        let mut all = ProgressWatcher::subscribe(&[], &positions);
        assert_eq!(changes.applied_position(), None);
        positions
            .find_progress("loans")
            .unwrap()
            .record_position(EventId::new(7));
        let brief = Duration::from_millis(20);
        let waited = tokio::time::timeout(brief, changes.wait_for_change()).await;
        assert!(waited.is_err(), "nothing changed in the books");
        all.wait_for_change().await;
        assert_eq!(all.applied_position(), None);
        positions
            .find_progress("books")
            .unwrap()
            .record_position(EventId::new(5));
        changes.wait_for_change().await;
        assert_eq!(changes.applied_position(), EventId::new(5));
        assert_eq!(all.applied_position(), EventId::new(5));
    }
}
