//! When a program is told to stop.

use std::{future::Future, io};

use tokio::signal::unix::{SignalKind, signal};

/// Done on SIGINT or SIGTERM.
pub(crate) fn requested() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
