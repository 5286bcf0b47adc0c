//! The graceful stop of a reaction: a running call may end, and then other processes continue at once.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Mutex, OwnedMutexGuard, watch},
    time::timeout,
};

use super::processor::ReactionProcessor;

/// The time in which the event store has to accept the last checkpoint. Without it, the lease expires.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The right to make the only call that a reaction of this process makes at a time.
pub(super) type CallPermit = OwnedMutexGuard<()>;

/// The request to stop, and the time that a running call has from then on.
#[derive(Debug, Clone)]
pub(super) struct GracefulStop {
    request: watch::Receiver<bool>,
    drain: Duration,
}

impl GracefulStop {
    /// Returns the sender of the request, too. Without the sender there is no request.
    pub(super) fn new(drain: Duration) -> (watch::Sender<bool>, Self) {
        let (sender, request) = watch::channel(false);
        (sender, Self { request, drain })
    }

    /// Completes when the stop is requested.
    pub(super) async fn wait_until_requested(&self) {
        let mut request = self.request.clone();
        if request
            .wait_for(|is_requested| *is_requested)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
    }

    /// Completes after the request, when no call runs or the running call has used up its time.
    pub(super) async fn wait_until_drained(&self, calls: Arc<Mutex<()>>) {
        self.wait_until_requested().await;
        let _ = timeout(self.drain, calls.lock()).await;
    }

    /// Runs the work. Returns `None` if the stop is requested before its end.
    pub(super) async fn run_until_requested<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.wait_until_requested() => None,
            done = work => Some(done),
        }
    }
}

impl ReactionProcessor {
    /// Records the calls that were made and releases the lease, so that another process need not wait
    /// until it expires.
    pub(super) async fn hand_over(mut self) {
        let handing_over = async {
            // An append that the stop interrupted may have arrived.
            let _ = self.checkpoints.load_checkpoint().await;
            self.release_lease().await;
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
