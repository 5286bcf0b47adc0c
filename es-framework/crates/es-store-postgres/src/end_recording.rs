//! Records the end of the log in the file of the instance: each second, and when the store is closed.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::store_state::StoreState;

/// The time between two flushes. After a power failure, the file may lag by as much. After a crash of the
/// process, it does not lag behind the events of this instance, because the writer records them.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Writes the end of the log and flushes it.
pub(super) async fn remember_now(state: Arc<StoreState>) {
    // It fails only by a panic, and the next call writes the same again.
    let _ = tokio::task::spawn_blocking(move || {
        state.remember_end();
        state.remembered.flush();
    })
    .await;
}

/// Remembers the events of all instances each second, until the store is dropped or the task is aborted.
pub(super) async fn remember_regularly(state: Weak<StoreState>) {
    let mut interval = tokio::time::interval(FLUSH_INTERVAL);
    loop {
        interval.tick().await;
        let Some(state) = state.upgrade() else {
            return;
        };
        remember_now(state).await;
    }
}
