//! The limits that an embedded store works within.

use std::time::Duration;

use super::recent::RecentLimits;

/// Limits of one store. Tests make them tiny, so that what is rare happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// How many events the index in memory holds before they are merged into the one on disk.
    /// Opening after a crash reads them back, which bounds it from above; each merge writes most
    /// pages of the index once, which bounds it from below.
    pub(super) tail_events: usize,
    /// How many index entries a commit merges for each event it writes.
    pub(super) merge_factor: usize,
    /// How much of the newest events is kept in memory for those who follow the store. One who
    /// looks once in a while finds there what a busy store has written meanwhile.
    pub(super) recent: RecentLimits,
    /// How many events share a commit at most. A single larger append is still one commit.
    pub(super) batch_events: usize,
    /// How many bytes share a commit at most.
    pub(super) batch_bytes: usize,
    /// How much may wait for the writer, in KiB; each append counts as one at least.
    pub(super) queue_kib: u32,
    /// How long an append waits for room in the queue.
    pub(super) queue_wait: Duration,
    /// How long to wait for somebody else who has locked the database.
    pub(super) lock_wait: Duration,
    /// How long nothing must happen before the index in memory is emptied.
    pub(super) idle: Duration,
    /// How many pages the write-ahead log takes before they go to the database. More are written
    /// more cheaply, but callers wait for longer meanwhile, and so does the start after a crash.
    pub(super) checkpoint_pages: u32,
    /// How large the write-ahead log may be and stay, in bytes.
    pub(super) log_bytes: u32,
    /// The writer's page cache, in KiB.
    pub(super) writer_cache_kib: u32,
    /// Each reader's page cache, in KiB.
    pub(super) reader_cache_kib: u32,
    /// How many reads run at once.
    pub(super) readers: usize,
    /// How many subjects of a list are held in memory at once.
    pub(super) subjects: usize,
    /// How much one read of the disk brings.
    pub(super) chunk: ChunkLimits,
}

/// What bounds the memory and the time of one step of a read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkLimits {
    /// How many events it brings at most.
    pub(super) events: usize,
    /// How many bytes of data it brings at most, but for its last event.
    pub(super) bytes: usize,
    /// How many bytes of lines it brings at most, but for its last line.
    pub(super) frame: usize,
    /// How many rows it looks at for the events that match.
    pub(super) rows: usize,
    /// Up to how many events below a subject are found by the index. Beyond, reading all events
    /// and leaving out what does not match is faster than sorting.
    pub(super) family: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tail_events: 49_152,
            merge_factor: 4,
            recent: RecentLimits {
                events: 8_192,
                bytes: 8 << 20,
            },
            batch_events: 4_096,
            batch_bytes: 8 << 20,
            queue_kib: 64 << 10,
            queue_wait: Duration::from_secs(5),
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
                rows: 16_384,
                family: 8_192,
            },
        }
    }
}
