//! A thread for what goes on beside the requests, such as keeping the read models up to date. A
//! runtime of its own keeps it from waiting behind hundreds of requests at each of its steps.

use std::thread::JoinHandle;

use tokio::{runtime, sync::oneshot};

use crate::{Error, Result};

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
    ) -> Result<Self> {
        let failed = |error| Error::because(failure, error);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
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
        if self.thread.join().is_err() {
            tracing::error!("the thread of {name} did not end well");
        }
    }
}
