//! The settings of an embedded store.

use std::time::Duration;

use super::recent::RecentLimits;
use es_event::HashVersion;
use es_store::write::AdmissionLimits;

/// The limits of one store, and the version of its hashes. Tests make the limits tiny, so that rare cases happen.
#[derive(Debug, Clone, Copy)]
pub(super) struct EngineSettings {
    /// The version in which the hashes of new events are computed.
    pub(super) hash_version: HashVersion,
    /// True if the writer verifies the newest events first, and all events each day.
    pub(super) verifies: bool,
    /// The time between two verifications.
    pub(super) check_interval: Duration,
    /// The number of index entries in memory at which a compaction starts. More entries make the start
    /// after a crash slower; fewer make compactions write more pages for each entry.
    pub(super) memtable_entries: usize,
    /// The number of index entries that a commit compacts for each entry that it adds.
    pub(super) compaction_factor: usize,
    /// The limits of the newest events that memory holds for subscribers.
    pub(super) recent: RecentLimits,
    /// The most events and preconditions of one commit. A single larger append is still one commit.
    pub(super) batch_events: usize,
    /// The most bytes of one commit.
    pub(super) batch_bytes: usize,
    /// The limits of the appends that wait.
    pub(super) queue: AdmissionLimits,
    /// The time to wait for another process that has locked the database.
    pub(super) lock_wait: Duration,
    /// The time without tasks after which the writer compacts the memtable.
    pub(super) idle: Duration,
    /// The number of pages in the write-ahead log at which a checkpoint starts. A larger number makes
    /// checkpoints cheaper in total, but each of them and the start after a crash take longer.
    pub(super) checkpoint_pages: u32,
    /// The size that the write-ahead log may keep, in bytes.
    pub(super) log_bytes: u32,
    /// The writer's page cache, in KiB.
    pub(super) writer_cache_kib: u32,
    /// Each reader's page cache, in KiB.
    pub(super) reader_cache_kib: u32,
    /// The number of reads that run at once.
    pub(super) readers: usize,
    /// The number of subjects of a listing that memory holds at once.
    pub(super) subjects: usize,
    /// The limits of one step of a read.
    pub(super) chunk: ChunkLimits,
}

/// The limits of one step of a read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkLimits {
    /// The most events.
    pub(super) events: usize,
    /// The most bytes of data, not counting the last event.
    pub(super) bytes: usize,
    /// The most bytes of lines, not counting the last line.
    pub(super) frame: usize,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            hash_version: HashVersion::V1,
            verifies: true,
            check_interval: Duration::from_secs(24 * 60 * 60),
            memtable_entries: 147_456,
            compaction_factor: 4,
            recent: RecentLimits {
                events: 8_192,
                bytes: 8 << 20,
            },
            batch_events: 4_096,
            batch_bytes: 8 << 20,
            queue: AdmissionLimits {
                kib: 64 << 10,
                wait: Duration::from_secs(5),
            },
            lock_wait: Duration::from_secs(5),
            idle: Duration::from_millis(500),
            checkpoint_pages: 2_048,
            log_bytes: 24 << 20,
            writer_cache_kib: 32 << 10,
            reader_cache_kib: 4 << 10,
            readers: 4,
            subjects: 1 << 17,
            chunk: ChunkLimits {
                events: 1_000,
                bytes: 1 << 20,
                frame: 512 << 10,
            },
        }
    }
}
