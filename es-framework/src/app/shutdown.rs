//! When the application is told to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Ends on SIGINT or SIGTERM.
pub(super) async fn requested() {
    let (interrupt, terminate) = match (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) {
        (Ok(interrupt), Ok(terminate)) => (interrupt, terminate),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "the application cannot be stopped gracefully");
            return std::future::pending().await;
        }
    };
    let (mut interrupt, mut terminate) = (interrupt, terminate);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
