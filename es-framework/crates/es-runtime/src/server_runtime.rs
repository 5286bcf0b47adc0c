//! The asynchronous runtime of a server.

use std::{io, num::NonZeroUsize, thread::available_parallelism};

use tokio::runtime::{Builder, Runtime};

/// Returns the number of reads from disk that may run on async threads at once: one for each processor.
#[doc(hidden)]
pub fn max_inline_reads() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Starts a runtime with one more async thread than [`max_inline_reads`]. A slow disk stops the threads that
/// read from it, and the last one answers the other requests.
#[doc(hidden)]
pub fn start_server_runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(max_inline_reads().saturating_add(1))
        .enable_all()
        .build()
}
