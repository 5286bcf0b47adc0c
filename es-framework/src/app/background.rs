//! A thread for background work, such as keeping the read models up to date. It has a runtime of its
//! own, so that it does not wait behind hundreds of requests at each step.

use std::{
    thread::JoinHandle,
    time::{Duration, Instant},
};

use es_personal::PersonalData;
use tokio::runtime;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::personal_data::follow_erasures;
use crate::{
    Error, Result, http::health::Lifecycle, projection::Processor, reaction::ReactionRunner,
};

/// Time that a thread has to end once its work may not go on. Application code that blocks must not keep
/// the process alive.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A thread for background work. To drop the value requests the end of the work.
#[derive(Debug)]
pub(super) struct BackgroundThread {
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
    thread: JoinHandle<()>,
}

impl BackgroundThread {
    /// Starts a thread with its own runtime that runs work. The work ends after the request that it is given.
    pub(super) fn spawn_thread<W: Future<Output = ()>>(
        name: &str,
        failure: &'static str,
        lifecycle: &Lifecycle,
        work: impl FnOnce(CancellationToken) -> W + Send + 'static,
    ) -> Result<Self> {
        let failed = |error| Error::because(failure, error);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let stop = CancellationToken::new();
        let requested = stop.clone();
        let panic_reporter = PanicReporter {
            name: name.to_owned(),
            lifecycle: lifecycle.clone(),
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _panic_reporter = panic_reporter;
                runtime.block_on(work(requested));
            })
            .map_err(failed)?;
        Ok(Self {
            _stop_on_drop: stop.clone().drop_guard(),
            stop,
            thread,
        })
    }

    /// Requests the end of the work, and does not wait for it.
    pub(super) fn request_stop(&self) {
        self.stop.cancel();
    }

    /// Stops the work, which may take the time `drain`, and waits for the thread to end.
    pub(super) fn stop(self, drain: Duration) {
        self.request_stop();
        let name = self.thread.thread().name().unwrap_or_default().to_owned();
        let begin = Instant::now();
        while !self.thread.is_finished() {
            if begin.elapsed() > drain.saturating_add(STOP_TIMEOUT) {
                tracing::error!("the thread {name} does not end and is abandoned");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.thread.join().is_err() {
            tracing::error!("the thread {name} panicked");
        }
    }
}

/// Reports a thread that panics to the health check: only a restart of the application helps.
struct PanicReporter {
    name: String,
    lifecycle: Lifecycle,
}

impl Drop for PanicReporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!(
                "the thread {} panicked; start the application again",
                self.name
            );
            self.lifecycle.record_broken_thread(&self.name);
        }
    }
}

/// Starts the thread of all projections. It follows the erasures of personal data as well.
pub(super) fn start_projections(
    processor: Processor,
    personal: Option<PersonalData>,
    lifecycle: &Lifecycle,
) -> Result<BackgroundThread> {
    let failure = "the projections cannot start";
    BackgroundThread::spawn_thread("read-models", failure, lifecycle, |stop| async move {
        let erasures = async {
            match personal {
                Some(personal) => follow_erasures(personal).await,
                None => std::future::pending().await,
            }
        };
        let work = async {
            tokio::select! {
                () = processor.run() => {}
                () = erasures => {}
            }
        };
        stop.run_until_cancelled(work).await;
    })
}

/// Starts the thread of all reactions.
pub(super) fn start_reactions(
    runner: ReactionRunner,
    drain: Duration,
    lifecycle: &Lifecycle,
) -> Result<BackgroundThread> {
    let failure = "the reactions cannot start";
    BackgroundThread::spawn_thread("reactions", failure, lifecycle, move |stop| {
        runner.run_until(stop, drain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_is_reported_and_one_that_is_stopped_is_not() {
        let lifecycle = Lifecycle::begin("library-service", "0.1.0");
        let failure = "it cannot begin";
        let going = BackgroundThread::spawn_thread(
            "going",
            failure,
            &lifecycle,
            CancellationToken::cancelled_owned,
        );
        going.unwrap().stop(Duration::ZERO);
        let broken = |_| async { assert!(failure.is_empty(), "on purpose") };
        let breaking =
            BackgroundThread::spawn_thread("breaking", failure, &lifecycle, broken).unwrap();
        // A thread that is stopped before it began would not panic.
        while !breaking.thread.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        breaking.stop(Duration::ZERO);
        assert_eq!(lifecycle.broken_threads(), ["breaking"]);
    }

    #[test]
    fn a_thread_that_is_blocked_is_abandoned() {
        let lifecycle = Lifecycle::begin("library-service", "0.1.0");
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let work = |_| async move {
            let _ = blocked.recv();
        };
        let blocked =
            BackgroundThread::spawn_thread("blocked", "it cannot begin", &lifecycle, work).unwrap();
        blocked.stop(Duration::ZERO);
        drop(release);
    }
}
