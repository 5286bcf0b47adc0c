//! The running parts of an open store: the thread of the writer, and the task that watches the log.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use tokio::{sync::oneshot, task::AbortHandle, time::timeout};

use super::{
    log_monitor, log_writer::LogWriter, server_connection::WritableConnection,
    store_state::StoreState,
};
use es_store::write::{WriteAdmission, WriteQueue};

/// A running writer, stopped when this is dropped.
#[derive(Debug)]
pub(super) struct RunningWriter {
    pub(super) admission: WriteAdmission,
    pub(super) state: Arc<StoreState>,
    thread: Mutex<Option<JoinHandle<()>>>,
    monitor: AbortHandle,
}

impl RunningWriter {
    /// Starts the writer, and the monitor of the log on a connection.
    pub(super) fn start(
        state: Arc<StoreState>,
        connection: WritableConnection,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(WriteQueue::default());
        let thread = start_thread(&state, &queue)?;
        let monitor = tokio::spawn(log_monitor::watch_log(Arc::clone(&state), connection));
        let admission = WriteAdmission::new(queue, state.limits.queue, state.description.clone());
        Ok(Self {
            admission,
            state,
            thread: Mutex::new(Some(thread)),
            monitor: monitor.abort_handle(),
        })
    }

    /// Waits for the answer of the writer. `None` if it does not come in time.
    pub(super) async fn await_answer<T>(
        &self,
        answered: oneshot::Receiver<T>,
        limit: Duration,
    ) -> Option<T> {
        timeout(limit, answered).await.ok()?.ok()
    }

    /// Writes the waiting appends and rejects further ones.
    pub(super) async fn close(&self) {
        self.admission.close();
        let thread = self.thread.lock();
        let thread = thread.unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        // It fails only by a panic, and then the writer has ended, too.
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the writer of the event store panicked");
        }
    }
}

fn start_thread(
    state: &Arc<StoreState>,
    queue: &Arc<WriteQueue>,
) -> std::io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let writer = LogWriter::new(Arc::clone(state), Arc::clone(queue));
    std::thread::Builder::new()
        .name("event-writer".into())
        .spawn(move || writer.write_until_closed(&runtime))
}

impl Drop for RunningWriter {
    fn drop(&mut self) {
        self.admission.close();
        self.monitor.abort();
    }
}
