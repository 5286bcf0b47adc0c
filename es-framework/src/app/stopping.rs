//! Until when an application serves.

use crate::shutdown;

/// Done when the application is told to stop.
pub(super) async fn stop_requested() {
    match shutdown::stop_signal() {
        Ok(requested) => requested.await,
        Err(error) => {
            tracing::warn!(%error, "the application cannot be stopped gracefully");
            std::future::pending().await
        }
    }
}
