//! A thread for background work, such as keeping the read models up to date. It has a runtime of its
//! own, so that it does not wait behind hundreds of requests at each step.

use std::{
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::{runtime, sync::oneshot};

use crate::{Error, Result, http::health::Lifecycle};

/// Time that a thread has to end. A thread ends at once between two steps; application code that
/// blocks must not keep the process alive.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A thread for background work. The work ends when the value is dropped.
#[derive(Debug)]
pub(super) struct BackgroundThread {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl BackgroundThread {
    /// Starts a thread with its own runtime that runs `work`.
    pub(super) fn start(
        name: &str,
        failure: &'static str,
        work: impl Future<Output = ()> + Send + 'static,
        lifecycle: &Lifecycle,
    ) -> Result<Self> {
        let failed = |error| Error::because(failure, error);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let (stop, stopped) = oneshot::channel();
        let panic_reporter = PanicReporter {
            name: name.to_owned(),
            lifecycle: lifecycle.clone(),
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _panic_reporter = panic_reporter;
                runtime.block_on(async {
                    tokio::select! {
                        () = work => {}
                        _ = stopped => {}
                    }
                });
            })
            .map_err(failed)?;
        Ok(Self { stop, thread })
    }

    /// Stops the work and waits for the thread to end.
    pub(super) fn stop(self) {
        let _ = self.stop.send(());
        let name = self.thread.thread().name().unwrap_or_default().to_owned();
        let begin = Instant::now();
        while !self.thread.is_finished() {
            if begin.elapsed() > STOP_TIMEOUT {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_is_reported_and_one_that_is_stopped_is_not() {
        let lifecycle = Lifecycle::begin("library-service");
        let failure = "it cannot begin";
        let going = std::future::pending();
        let going = BackgroundThread::start("going", failure, going, &lifecycle).unwrap();
        going.stop();
        let breaking = async { assert!(failure.is_empty(), "on purpose") };
        let breaking = BackgroundThread::start("breaking", failure, breaking, &lifecycle).unwrap();
        // A thread that is stopped before it began would not panic.
        while !breaking.thread.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        breaking.stop();
        assert_eq!(lifecycle.broken_threads(), ["breaking"]);
    }

    #[test]
    fn a_thread_that_is_blocked_is_abandoned() {
        let lifecycle = Lifecycle::begin("library-service");
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let work = async move {
            let _ = blocked.recv();
        };
        let blocked =
            BackgroundThread::start("blocked", "it cannot begin", work, &lifecycle).unwrap();
        blocked.stop();
        drop(release);
    }
}
