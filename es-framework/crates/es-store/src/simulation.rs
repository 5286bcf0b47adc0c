//! The hooks of the simulation tests. Blocking work takes its turn on the simulated clock. A run can enable a
//! defect to prove that its checks find it. Without the feature `simulation`, blocking work runs on its own
//! threads and there are no defects.

#[cfg(feature = "simulation")]
mod simulation_scope;

#[cfg(feature = "simulation")]
use std::time::Duration;

#[cfg(feature = "simulation")]
pub use simulation_scope::SimulationScope;

/// A defect that a simulation switches on. Each one breaks an invariant with one line of production
/// code.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// An append with an unknown outcome counts as recorded.
    TrustUnknownAppends,
    /// A command with an idempotency key appends its record without the precondition that it is the
    /// first one.
    AllowSecondRecord,
    /// An append keeps only the preconditions on the command's own subject.
    ForgetOtherSubjects,
    /// A projection stores the first event of a batch as its checkpoint.
    CheckpointFirstEvent,
    /// Each process of the service gives a reaction's command another idempotency key, so that each of them sends it.
    SendOncePerProcess,
    /// A start of a reaction forgets the open deadlines.
    ForgetOpenDeadlines,
    /// A reaction meets a deadline before it has handled the events that may cancel it.
    MeetBeforeCancelling,
    /// A process makes a call although another one holds the lease.
    IgnoreLeases,
}

/// Returns whether this thread simulates a framework with this defect.
#[cfg(not(feature = "simulation"))]
#[doc(hidden)]
#[must_use]
pub const fn has(_: Defect) -> bool {
    false
}

/// Returns whether this thread simulates a framework with this defect.
#[cfg(feature = "simulation")]
#[doc(hidden)]
#[must_use]
pub fn has(defect: Defect) -> bool {
    SimulationScope::defect() == Some(defect)
}

/// Runs blocking work outside the async threads. Returns `None` if the work panics.
#[cfg(not(feature = "simulation"))]
#[doc(hidden)]
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

/// Runs work that may block on a thread for such work, or in its turn on a simulated thread. Returns
/// nothing if the work panics.
#[cfg(feature = "simulation")]
#[doc(hidden)]
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
