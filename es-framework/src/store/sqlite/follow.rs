//! Reading for those who observe: the newest events from memory, the others from the disk. Who reads
//! without observing gets what is on the disk.

use async_trait::async_trait;

use super::read::Reader;
use crate::{
    event::RecordedEvent,
    store::{
        StoreError,
        options::IdRange,
        scan::{Chunk, Chunks, Scan},
    },
};

/// Reads the events that an observer takes.
#[derive(Debug, Clone)]
pub(super) struct Following(pub(super) Reader);

impl Following {
    /// The next events of a scan, if they are in memory.
    fn recent(&self, scan: &Scan) -> Option<Chunk> {
        let limits = self.0.settings().chunk;
        let most = scan.at_most(limits.events);
        let tail = self.0.shared().tail();
        let commits = tail.recent.commits(scan.range, limits.events)?;
        drop(tail);
        let IdRange { first, last } = scan.range;
        let events = commits.iter().flat_map(|commit| commit.iter());
        let (mut taken, mut bytes, mut rest) = (Vec::new(), 0_usize, Some(scan.range));
        for event in events.skip_while(|event| event.id.get() < first) {
            if event.id.get() > last || taken.len() >= most || bytes >= limits.bytes {
                break;
            }
            if scan.matches(event) {
                bytes = bytes.saturating_add(event.data.get().len());
                taken.push(event.clone());
            }
            rest = scan.beyond(event.id);
        }
        Some(Chunk {
            count: taken.len(),
            events: taken,
            rest,
        })
    }
}

#[async_trait]
impl Chunks for Following {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = Reader::EVENTS;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        match self.recent(scan) {
            Some(chunk) => Ok(chunk),
            None => self.0.chunk(scan).await,
        }
    }
}
