//! The hook of the simulation tests: blocking work takes its turn on the simulated clock. Without the feature
//! `simulation`, it runs on its own threads.

#[cfg(feature = "simulation")]
mod simulation_scope;

#[cfg(feature = "simulation")]
use std::time::Duration;

#[cfg(feature = "simulation")]
pub use simulation_scope::SimulationScope;

/// Runs blocking work outside the async threads. Returns `None` if the work panics.
#[cfg(not(feature = "simulation"))]
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// Runs work that may block on a thread for such work, or in its turn on a simulated thread. Returns
/// nothing if the work panics.
#[cfg(feature = "simulation")]
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match SimulationScope::work_times() {
        None => tokio::task::spawn_blocking(work).await.ok(),
        Some([before, after]) => {
            pass_time(before).await;
            let done = work();
            pass_time(after).await;
            Some(done)
        }
    }
}

/// Sleeps. Even a sleep of no time costs a turn of the runtime, which is most of the time of a run.
#[cfg(feature = "simulation")]
async fn pass_time(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}
