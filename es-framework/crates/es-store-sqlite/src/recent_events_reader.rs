//! Reads for subscribers: the newest events come from memory, the others from the disk. Reads without
//! a subscription always use the disk.

use async_trait::async_trait;

use super::reader::EventReader;
use es_event::RecordedEvent;
use es_store::{
    StoreError,
    options::IdRange,
    scan::{Chunk, ChunkSource, Scan},
};

/// Reads events from the recent commits in memory, and older events from the disk. Subscriptions read
/// through it.
#[derive(Debug, Clone)]
pub(super) struct RecentEventsReader(pub(super) EventReader);

impl RecentEventsReader {
    /// Returns the next events of a scan, if they are in memory.
    fn recent_chunk(&self, scan: &Scan) -> Option<Chunk> {
        let limits = self.0.settings().chunk;
        let most = scan.next_count(limits.events);
        let log = self.0.shared().log();
        let commits = log.recent.commits_covering(scan.range, limits.events)?;
        drop(log);
        let IdRange { first, last } = scan.range;
        let events = commits.iter().flat_map(|commit| commit.iter());
        let (mut matching, mut bytes, mut rest) = (Vec::new(), 0_usize, Some(scan.range));
        for event in events.skip_while(|event| event.id.get() < first) {
            if event.id.get() > last || matching.len() >= most || bytes >= limits.bytes {
                break;
            }
            if scan.matches(event) {
                bytes = bytes.saturating_add(event.data.get().len());
                matching.push(event.clone());
            }
            rest = scan.ids_after(event.id);
        }
        Some(Chunk {
            count: matching.len(),
            events: matching,
            rest,
        })
    }
}

#[async_trait]
impl ChunkSource for RecentEventsReader {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = EventReader::EVENTS;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        match self.recent_chunk(scan) {
            Some(chunk) => Ok(chunk),
            None => self.0.chunk(scan).await,
        }
    }
}
