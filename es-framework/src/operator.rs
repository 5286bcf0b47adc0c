//! What an operator asks of a task that runs in the background, and how long the answer is waited for.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

/// How long an operator waits for the task to come to a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many requests may wait.
pub(crate) const WAITING: usize = 8;

/// What was asked, and who waits for the answer.
#[derive(Debug)]
pub(crate) struct Request<Q, A> {
    pub(crate) asked: Q,
    answer: oneshot::Sender<A>,
}

impl<Q, A> Request<Q, A> {
    pub(crate) fn answer(self, answer: A) {
        // Whoever does not wait any more does not want to know.
        let _ = self.answer.send(answer);
    }

    /// Whether somebody waits for the answer.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }
}

/// Asks something; `None` if the task is busy or has ended.
pub(crate) async fn ask<Q, A>(task: &mpsc::Sender<Request<Q, A>>, asked: Q) -> Option<A> {
    let (answer, answered) = oneshot::channel();
    let asking = async {
        task.send(Request { asked, answer }).await.ok()?;
        answered.await.ok()
    };
    tokio::time::timeout(PATIENCE, asking).await.ok()?
}
