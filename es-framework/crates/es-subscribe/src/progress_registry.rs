//! The progress of all components of a kind, by name.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use es_event::EventId;

use super::{ProgressError, SubscriberProgress, operator::ComponentKind};

/// The progress of all components of a kind.
///
/// ```
/// use es_subscribe::{ProgressRegistry, operator::ComponentKind};
///
/// /// The components that wait for an operator.
/// fn stopped(components: &ProgressRegistry) -> Vec<&str> {
///     let stopped = components.iter().filter(|progress| progress.is_stopped());
///     stopped.map(|progress| progress.name()).collect()
/// }
///
/// assert!(stopped(&ProgressRegistry::new(ComponentKind::Reaction, ["LoanReminder"])).is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ProgressRegistry(Arc<BTreeMap<&'static str, SubscriberProgress>>);

impl ProgressRegistry {
    /// Creates the progress of components that have not begun.
    #[must_use]
    pub fn new(kind: ComponentKind, names: impl IntoIterator<Item = &'static str>) -> Self {
        let begin = |name| (name, SubscriberProgress::new(kind, name));
        Self(Arc::new(names.into_iter().map(begin).collect()))
    }

    /// Returns the progress of the component with this name.
    #[must_use]
    pub fn find_progress(&self, name: &str) -> Option<&SubscriberProgress> {
        self.0.get(name)
    }

    /// Returns the progress of all components, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &SubscriberProgress> {
        self.0.values()
    }

    /// Waits until each of these components has handled an event and all events that were stored before the
    /// start. Waits for all components if `names` is empty.
    ///
    /// # Errors
    /// A component does not reach the event within `limit`, or it has stopped.
    pub async fn wait_until_reached(
        &self,
        names: &[&str],
        id: Option<EventId>,
        limit: Duration,
    ) -> Result<(), ProgressError> {
        let deadline = tokio::time::Instant::now().checked_add(limit);
        let is_selected =
            |one: &&SubscriberProgress| names.is_empty() || names.contains(&one.name());
        for progress in self.iter().filter(is_selected) {
            let now = tokio::time::Instant::now();
            let left = deadline.map_or(limit, |deadline| deadline.saturating_duration_since(now));
            progress.wait_until_reached(id, left).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEF: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn one_read_model_does_not_wait_for_another() {
        let positions = ProgressRegistry::new(ComponentKind::ReadModel, ["books", "loans"]);
        positions.find_progress("books").unwrap().record_catch_up();
        assert_eq!(
            positions.wait_until_reached(&["books"], None, BRIEF).await,
            Ok(())
        );
        let all = positions.wait_until_reached(&[], None, BRIEF).await;
        assert_eq!(all, Err(ProgressError::Rebuilding));
    }
}
