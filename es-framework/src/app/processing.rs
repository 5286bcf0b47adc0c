//! A thread for what goes on beside the requests, such as keeping the read models up to date. A
//! runtime of its own keeps it from waiting behind hundreds of requests at each of its steps.

use std::{
    thread::JoinHandle,
    time::{Duration, Instant},
};

use tokio::{runtime, sync::oneshot};

use crate::{Error, Result, http::health::Lifecycle};

/// How long a thread may take to end. Between two steps it ends at once; one that an application's
/// own code blocks must not keep the process.
const PATIENCE: Duration = Duration::from_secs(2);

/// Work that goes on until it is told to stop.
pub(super) struct Processing {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Processing {
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
        let witness = Witness {
            name: name.to_owned(),
            lifecycle: lifecycle.clone(),
        };
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _witness = witness;
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

    pub(super) fn stop(self) {
        let _ = self.stop.send(());
        let name = self.thread.thread().name().unwrap_or_default().to_owned();
        let begin = Instant::now();
        while !self.thread.is_finished() {
            if begin.elapsed() > PATIENCE {
                tracing::error!("the thread of {name} does not end and is left behind");
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.thread.join().is_err() {
            tracing::error!("the thread of {name} did not end well");
        }
    }
}

/// Notes a thread that breaks: nothing but another start brings it back.
struct Witness {
    name: String,
    lifecycle: Lifecycle,
}

impl Drop for Witness {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!(
                "the thread of {} broke; start the application again",
                self.name
            );
            self.lifecycle.broke(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_breaks_is_noted_and_one_that_is_stopped_is_not() {
        let lifecycle = Lifecycle::begin("garden");
        let failure = "it cannot begin";
        let going = std::future::pending();
        let going = Processing::start("going", failure, going, &lifecycle).unwrap();
        going.stop();
        let breaking = async { assert!(failure.is_empty(), "on purpose") };
        let breaking = Processing::start("breaking", failure, breaking, &lifecycle).unwrap();
        // One that is stopped before it began does not break.
        while !breaking.thread.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        breaking.stop();
        assert_eq!(lifecycle.broken(), ["breaking"]);
    }

    #[test]
    fn a_thread_that_is_blocked_is_left_behind() {
        let lifecycle = Lifecycle::begin("garden");
        let (release, blocked) = std::sync::mpsc::channel::<()>();
        let work = async move {
            let _ = blocked.recv();
        };
        let blocked = Processing::start("blocked", "it cannot begin", work, &lifecycle).unwrap();
        blocked.stop();
        drop(release);
    }
}
