//! Limits how many connections are open at once. Once the limit is reached, connections whose client
//! keeps them waiting end early, so that idle and slow clients cannot lock out others.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep, sleep_until},
};

use super::{client_wait::ClientWait, limits::ConnectionLimits};

/// One permit for each connection, and a flag that is true while a new connection has to wait.
#[derive(Debug, Clone)]
pub(super) struct ConnectionLimit {
    permits: Arc<Semaphore>,
    is_reached: Arc<watch::Sender<bool>>,
}

impl ConnectionLimit {
    pub(super) fn new(connections: usize) -> Self {
        let permits = connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            is_reached: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Acquires the permit for one connection. Waits until another connection ends if the limit is
    /// reached.
    pub(super) async fn acquire(&self) -> OwnedSemaphorePermit {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return permit;
        }
        self.is_reached.send_replace(true);
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        self.is_reached.send_replace(false);
        match permit {
            Ok(permit) => permit,
            // Nobody closes the semaphore.
            Err(_) => std::future::pending().await,
        }
    }

    /// Treats the limit as reached for a while, because the system has no file left for another
    /// connection.
    pub(super) async fn reach_for(&self, pause: Duration) {
        self.is_reached.send_replace(true);
        sleep(pause).await;
        self.is_reached.send_replace(false);
    }

    /// Completes when the limit is reached and this connection has waited too long for its client.
    pub(super) async fn idle_too_long(&self, wait: &ClientWait, limits: &ConnectionLimits) {
        let mut is_reached = self.is_reached.subscribe();
        loop {
            if is_reached.wait_for(|is_reached| *is_reached).await.is_err() {
                return std::future::pending().await;
            }
            match wait.end_when_full(limits) {
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => sleep_until(deadline).await,
                None => sleep(limits.idle_time_when_full).await,
            }
        }
    }
}
