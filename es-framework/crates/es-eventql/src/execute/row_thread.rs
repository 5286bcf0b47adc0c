//! The thread of a run. A single row can take as long as the whole run may, so rows are evaluated on a
//! thread for blocking work, and the async threads only pass them on.

use std::{mem, panic::resume_unwind, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use serde_json::value::RawValue;
use tokio::{
    runtime::Handle,
    sync::mpsc,
    task::{JoinError, JoinHandle, spawn_blocking},
    time::{Instant, timeout_at},
};

use crate::{
    QueryRows,
    query_budget::QueryBudget,
    query_error::{QueryError, QueryErrorKind},
};
use es_store::StoreError;

/// Rows that are sent together. A send of each row alone would take longer than its evaluation.
type RowBatch = Vec<Result<Box<RawValue>, QueryError>>;

/// The size in bytes from which a batch is sent.
const BATCH_SIZE: usize = 64 * 1024;
/// The time after which a batch is sent although further rows are ready.
const BATCH_TIME: Duration = Duration::from_millis(1);
/// The size of a row in a batch, besides its text.
const ROW_OVERHEAD: usize = 64;

/// Evaluates the rows on a thread of their own once the first one is read. The first error ends the rows,
/// and the deadline ends them with an error. Dropping the rows ends the thread.
pub(super) fn evaluate_on_thread(rows: QueryRows, budget: Arc<QueryBudget>) -> QueryRows {
    let cancel = CancelOnDrop(budget);
    let started = async move {
        let (sender, batches) = mpsc::channel(1);
        let handle = Handle::current();
        let thread = spawn_blocking(move || handle.block_on(send_batches(rows, sender)));
        let reader = BatchReader {
            batches,
            thread,
            cancel,
        };
        stream::unfold(Some(reader), |reader| async { reader?.next_batch().await })
    };
    let batches = stream::once(started).flatten();
    batches.flat_map(stream::iter).boxed()
}

/// Ends the thread of a run at its next check, when its reader goes away.
struct CancelOnDrop(Arc<QueryBudget>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

struct BatchReader {
    batches: mpsc::Receiver<RowBatch>,
    thread: JoinHandle<()>,
    cancel: CancelOnDrop,
}

impl BatchReader {
    /// Returns the next rows, and the reader unless these are the last ones.
    async fn next_batch(mut self) -> Option<(RowBatch, Option<Self>)> {
        let budget = &self.cancel.0;
        let received = match budget.deadline() {
            Some(deadline) if Instant::now() >= deadline => None,
            Some(deadline) => timeout_at(deadline, self.batches.recv()).await.ok(),
            None => Some(self.batches.recv().await),
        };
        match received {
            Some(Some(batch)) => {
                let has_failed = batch.last().is_some_and(Result::is_err);
                Some((batch, (!has_failed).then_some(self)))
            }
            Some(None) => match self.thread.await {
                Ok(()) => None,
                Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                // The runtime shuts down.
                Err(error) => Some((failure(unavailable(&error)), None)),
            },
            None => Some((failure(budget.time_error()), None)),
        }
    }
}

fn unavailable(error: &JoinError) -> QueryErrorKind {
    QueryErrorKind::Store(StoreError::Unavailable {
        address: "of this process".to_owned(),
        reason: error.to_string(),
    })
}

fn failure(kind: QueryErrorKind) -> RowBatch {
    vec![Err(QueryError::without_position(kind))]
}

/// Sends rows until the first error, the last row, or the end of the reader. The first row is sent at once.
async fn send_batches(mut rows: QueryRows, sender: mpsc::Sender<RowBatch>) {
    let mut batch = RowBatch::new();
    let mut size = 0_usize;
    let mut last_send = None::<Instant>;
    let mut has_ended = false;
    while !(has_ended && batch.is_empty()) {
        let is_late = || last_send.is_none_or(|sent| sent.elapsed() >= BATCH_TIME);
        let is_due = !batch.is_empty() && (size >= BATCH_SIZE || is_late());
        tokio::select! {
            biased;
            row = rows.next(), if !has_ended && !is_due => match row {
                Some(row) => {
                    has_ended = row.is_err();
                    let length = row.as_ref().map_or(0, |row| row.get().len());
                    size = size.saturating_add(length).saturating_add(ROW_OVERHEAD);
                    batch.push(row);
                }
                None => has_ended = true,
            },
            permit = sender.reserve(), if !batch.is_empty() => {
                let Ok(permit) = permit else { return };
                permit.send(mem::take(&mut batch));
                size = 0;
                last_send = Some(Instant::now());
            }
            () = sender.closed() => return,
        }
    }
}
