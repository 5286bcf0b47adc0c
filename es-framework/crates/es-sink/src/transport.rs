//! The port to another system.

use std::{fmt::Debug, time::Duration};

use async_trait::async_trait;

use crate::CloudEvent;

/// The longest pause between two attempts of a delivery. No system can ask for a longer one.
///
/// ```
/// assert_eq!(es_sink::LONGEST_PAUSE.as_secs(), 24 * 60 * 60);
/// ```
pub const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// Delivers events to one system. Several events of different subjects may be on their way at once.
#[async_trait]
pub trait Transport: Debug + Send + Sync {
    /// Delivers the events that follow from one stored event, in their order, until the system has confirmed them.
    ///
    /// # Errors
    /// The system has not confirmed all of them. All are delivered again.
    async fn deliver(&self, events: &[CloudEvent]) -> Result<(), DeliveryError>;
}

/// The reason why an event is not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// The attempt failed. The next one follows after a pause that grows.
    #[error("{0}")]
    Failed(String),
    /// The system asks for a pause before the next attempt.
    #[error("{reason}")]
    Later {
        /// The answer of the system.
        reason: String,
        /// The pause.
        pause: Duration,
    },
    /// The system wants no more events.
    #[error("{0}")]
    Ended(String),
}
