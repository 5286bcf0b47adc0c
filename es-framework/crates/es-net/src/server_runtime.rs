//! The asynchronous runtime of a server.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// Starts a runtime with one more async thread than reads from disk that may run on such threads at once. A slow
/// disk stops the threads that read from it, and the last one answers the other requests.
#[doc(hidden)]
pub fn start_server_runtime(inline_reads: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(inline_reads.saturating_add(1))
        .enable_all()
        .build()
}
