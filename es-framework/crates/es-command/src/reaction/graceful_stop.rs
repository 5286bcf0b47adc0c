//! The graceful stop of a reaction: running calls may end, and then other processes continue at once.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{ReactionError, processor::ReactionProcessor};

/// The time in which the event store has to accept the last checkpoint. Without it, the lease expires.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The request to stop, and the time that running calls have from then on.
#[derive(Debug, Clone)]
pub(super) struct GracefulStop {
    pub(super) request: CancellationToken,
    pub(super) drain: Duration,
}

impl ReactionProcessor {
    /// Waits for the ends of the calls and records them, because another processor goes on.
    pub(super) async fn end_calls(&mut self) -> Result<(), ReactionError> {
        self.await_calls().await;
        self.drop_calls();
        if !self.checkpoints.needs_save() {
            return Ok(());
        }
        match self.save_checkpoint().await {
            // The next processor reports it, and may begin without checkpoints.
            Err(ReactionError::Checkpoint(_)) => Ok(()),
            saved => saved,
        }
    }

    /// Waits for the ends of the calls, records them and releases the lease, so that another process need not wait
    /// until it expires.
    pub(super) async fn hand_over(mut self, drain: Duration) {
        let _ = timeout(drain, self.await_calls()).await;
        self.drop_calls();
        let handing_over = async {
            // An append that the stop interrupted may have arrived.
            let _ = self.checkpoints.load_checkpoint().await;
            self.leave_retries();
            if self.is_dirty || self.checkpoints.needs_save() {
                let _ = self.save_checkpoint().await;
            }
        };
        if timeout(HAND_OVER_TIMEOUT, handing_over).await.is_err() {
            let reaction = self.executor.reaction.name;
            tracing::warn!(
                reaction,
                "the event store does not answer, so the lease of a reaction expires later"
            );
        }
    }
}
