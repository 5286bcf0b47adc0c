//! The signals that stop a program.

use std::{future::Future, io};

use tokio::signal::unix::{SignalKind, signal};

/// Returns a future that completes on SIGINT or SIGTERM.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
