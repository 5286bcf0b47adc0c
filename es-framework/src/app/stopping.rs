//! Until when an application serves.

use std::{future::Future, time::Duration};

use axum::Router;

use crate::{
    net::{self, Door},
    shutdown,
};

/// Serves until it is told to stop; open requests may go on for so long after that.
pub(super) async fn serve_within(
    drain: Duration,
    door: Door,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let limits = net::Limits {
        drain,
        ..net::Limits::default()
    };
    net::serve(door, router, limits, stop).await;
}

/// Done when the application is told to stop.
pub(super) async fn stop_requested() {
    match shutdown::requested() {
        Ok(requested) => requested.await,
        Err(error) => {
            tracing::warn!(%error, "the application cannot be stopped gracefully");
            std::future::pending().await
        }
    }
}
