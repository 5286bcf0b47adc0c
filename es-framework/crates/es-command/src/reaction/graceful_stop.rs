//! The graceful stop of a reaction: a running call may end, and then other processes continue at once.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::processor::ReactionProcessor;

/// The time in which the event store has to accept the last checkpoint. Without it, the lease expires.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The right to make the only call that a reaction of this process makes at a time.
pub(super) type CallPermit = OwnedMutexGuard<()>;

/// The request to stop, and the time that a running call has from then on.
#[derive(Debug, Clone)]
pub(super) struct GracefulStop {
    pub(super) request: CancellationToken,
    pub(super) drain: Duration,
}

impl GracefulStop {
    /// Completes after the request, when no call runs or the running call has used up its time.
    pub(super) async fn wait_until_drained(&self, calls: Arc<Mutex<()>>) {
        self.request.cancelled().await;
        let _ = timeout(self.drain, calls.lock()).await;
    }
}

impl ReactionProcessor {
    /// Records the calls that were made and releases the lease, so that another process need not wait
    /// until it expires.
    pub(super) async fn hand_over(mut self) {
        let handing_over = async {
            // An append that the stop interrupted may have arrived.
            let _ = self.checkpoints.load_checkpoint().await;
            if self.checkpoints.needs_save() {
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
