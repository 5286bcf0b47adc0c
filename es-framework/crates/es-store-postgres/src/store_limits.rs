//! The limits that a store works within.

use std::time::Duration;

use es_store::write::{AdmissionLimits, BatchLimits};

/// The limits of one store.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoreLimits {
    /// The time to connect to a server.
    pub(super) connect_time: Duration,
    /// The time for which a start waits for a writable server.
    pub(super) start_time: Duration,
    /// The time of one attempt to write a batch.
    pub(super) attempt_time: Duration,
    /// The time for which a batch is tried again after failures, such as a failover.
    pub(super) retry_time: Duration,
    /// The time that an append waits for its outcome.
    pub(super) write_time: Duration,
    /// The time of one step of a read.
    pub(super) read_time: Duration,
    /// The time of a health check.
    pub(super) health_time: Duration,
    /// The time between two looks at the log, for events that no notification announced.
    pub(super) poll_time: Duration,
    /// The longest time for an answer to the smallest query. If the server takes longer, the instance looks for
    /// another one.
    pub(super) answer_time: Duration,
    /// The most connections that read at once.
    pub(super) readers: usize,
    /// The limits of one commit. A single larger append is still one commit.
    pub(super) batch: BatchLimits,
    /// The limits of the appends that wait.
    pub(super) queue: AdmissionLimits,
    /// The most events of one step of a read.
    pub(super) chunk_events: usize,
    /// The most bytes of one step of a read, not counting the last event.
    pub(super) chunk_bytes: usize,
    /// The number of subjects of one step of a listing.
    pub(super) subjects: usize,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            connect_time: Duration::from_secs(2),
            start_time: Duration::from_secs(10),
            attempt_time: Duration::from_secs(5),
            retry_time: Duration::from_secs(15),
            write_time: Duration::from_secs(30),
            read_time: Duration::from_secs(10),
            health_time: Duration::from_secs(2),
            poll_time: Duration::from_secs(1),
            answer_time: Duration::from_secs(1),
            readers: 8,
            batch: BatchLimits {
                events: 4_096,
                bytes: 8 << 20,
            },
            queue: AdmissionLimits {
                kib: 64 << 10,
                wait: Duration::from_secs(5),
            },
            chunk_events: 1_000,
            chunk_bytes: 1 << 20,
            subjects: 1_000,
        }
    }
}
