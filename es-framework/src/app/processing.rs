//! The thread that keeps the read models up to date. A runtime of its own keeps it from waiting
//! behind hundreds of requests at each of its steps.

use std::thread::JoinHandle;

use tokio::{runtime, sync::oneshot};

use crate::{Error, Result, projection::Processor};

/// A processor at work.
pub(super) struct Processing {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Processing {
    pub(super) fn start(processor: Processor) -> Result<Self> {
        let failed = |error| Error::because("the read models cannot be followed", error);
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("read-models".into())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = processor.run() => {}
                        _ = stopped => {}
                    }
                });
            })
            .map_err(failed)?;
        Ok(Self { stop, thread })
    }

    pub(super) fn stop(self) {
        let _ = self.stop.send(());
        if self.thread.join().is_err() {
            tracing::error!("the thread of the read models did not end well");
        }
    }
}
