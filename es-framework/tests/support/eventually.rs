//! Waits for a state that comes with time.

use std::time::{Duration, Instant};

/// The longest wait. It is far longer than any wait takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Repeats a check until it succeeds, for at most a minute.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(begin.elapsed() < PATIENCE, "not within a minute: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
