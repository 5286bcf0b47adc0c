//! Reading for those who observe: the newest events from memory, the others from the disk. Who reads
//! without observing gets what is on the disk.

use async_trait::async_trait;
use tokio::sync::watch;

use super::read::Reader;
use crate::{
    event::{EventId, EventType, RecordedEvent, Subject},
    store::{
        Order, StoreError,
        options::IdRange,
        scan::{Chunk, Chunks, Log, Scan},
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

#[async_trait]
impl Log for Following {
    fn length(&self) -> watch::Receiver<u64> {
        self.0.length()
    }

    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError> {
        self.0.find(subject, event_type, range, order).await
    }
}
