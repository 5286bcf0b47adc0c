//! The reads from disk that run on async threads.

use std::{num::NonZeroUsize, thread::available_parallelism};

/// Returns the number of reads from disk that may run on async threads at once: one for each processor.
#[must_use]
pub fn max_inline_reads() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get)
}
