//! Reads and subscriptions over a log that returns its events in chunks. The in-memory store and the
//! embedded store share this code.

mod chunk_prefetcher;
mod observation;

use std::{
    num::NonZeroU64,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    vec,
};

use async_trait::async_trait;
use futures_util::{Stream, TryStreamExt as _, stream};
use tokio::sync::watch;

use super::{
    EventStream, FromLatestEvent, IfEventIsMissing, Order, ReadOptions, StoreError,
    options::IdRange,
};
use es_event::{EventId, EventType, RecordedEvent, Subject};

use chunk_prefetcher::ChunkPrefetcher;
pub use observation::observe_events;

/// The selection of events of a read.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The subject that is read.
    pub subject: Subject,
    /// True if the subjects below it are read, too.
    pub recursive: bool,
    /// The order of the events.
    pub order: Order,
    /// The ids that may be returned.
    pub range: IdRange,
    /// The types of the events. Empty for all types.
    pub event_types: Arc<[EventType]>,
    /// The highest number of events to read.
    pub(crate) limit: Option<NonZeroU64>,
}

/// A chunk of a scan, and the ids that are left after it.
#[derive(Debug)]
pub struct Chunk<T = Vec<RecordedEvent>> {
    /// The events in the order of the scan. A chunk can be empty although it has a rest.
    pub events: T,
    /// The number of the events.
    pub count: usize,
    /// The ids that are not read yet; `None` at the end.
    pub rest: Option<IdRange>,
}

/// A source that returns a scan in chunks, as events or as rendered lines.
#[async_trait]
pub trait ChunkSource: Clone + Send + Sync + 'static {
    /// The type of the events in a chunk: recorded events, or the bytes of rendered lines.
    type Events: Send + 'static;

    /// The approximate number of events in a chunk.
    const EVENTS: u64;

    /// Returns the first events of a scan. Many callers read only a few, so a source may return fewer events
    /// than in later chunks, if it returns them sooner.
    async fn first_chunk(&self, scan: &Scan) -> Result<Chunk<Self::Events>, StoreError> {
        self.chunk(scan).await
    }

    /// Returns the next events of a scan, at most as many as the chunk and the limit of the scan allow.
    async fn chunk(&self, scan: &Scan) -> Result<Chunk<Self::Events>, StoreError>;
}

/// A log of events that can be read in chunks.
#[async_trait]
pub trait Log: Clone + Send + Sync + 'static {
    /// Returns the number of stored events, as a channel that reports each increase.
    fn length(&self) -> watch::Receiver<u64>;

    /// Finds the first or the latest event of this subject and type in a range of ids.
    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError>;
}

impl Scan {
    /// Creates a scan of a range of ids from the first to the last.
    pub fn over_range(subject: Subject, recursive: bool, range: IdRange) -> Self {
        Self {
            subject,
            recursive,
            order: Order::Chronological,
            range,
            event_types: Arc::default(),
            limit: None,
        }
    }

    /// Restricts the scan to events of these types.
    #[must_use]
    pub fn of_types(self, event_types: impl IntoIterator<Item = EventType>) -> Self {
        Self {
            event_types: event_types.into_iter().collect(),
            ..self
        }
    }

    /// Returns true if the scan returns this event.
    pub fn matches(&self, event: &RecordedEvent) -> bool {
        let RecordedEvent { subject, .. } = event;
        (*subject == self.subject || (self.recursive && subject.is_within(&self.subject)))
            && self.includes_type(event.event_type.as_str())
    }

    /// Returns true if the scan includes events of this type.
    pub fn includes_type(&self, event_type: &str) -> bool {
        let wanted = &self.event_types;
        wanted.is_empty() || wanted.iter().any(|wanted| wanted.as_str() == event_type)
    }

    /// Returns the number of events to read next: `max`, or the limit of the scan if it is lower.
    pub fn next_count(&self, max: usize) -> usize {
        let limit = self.limit.map(|limit| usize::try_from(limit.get()));
        limit
            .and_then(Result::ok)
            .map_or(max, |limit| limit.min(max))
    }

    /// Returns true if the scan includes every event in its range of ids.
    fn is_everything(&self) -> bool {
        let is_all = self.recursive && self.subject == Subject::root();
        is_all && self.event_types.is_empty() && self.limit.is_none()
    }

    /// Returns false if the scan includes every event, but a chunk with this rest lacks one of them.
    pub fn is_gapless<T>(&self, chunk: &Chunk<T>) -> bool {
        let ids = |range: IdRange| range.last.saturating_add(1).saturating_sub(range.first);
        let rest = chunk.rest.map_or(0, ids);
        let count = u64::try_from(chunk.count).unwrap_or(u64::MAX);
        !self.is_everything() || count.saturating_add(rest) == ids(self.range)
    }

    /// Splits the scan after its first `count` ids.
    fn split(self, count: u64) -> (Self, Option<Self>) {
        let IdRange { first, last } = self.range;
        if last.saturating_sub(first) < count {
            return (self, None);
        }
        let older_end = match self.order {
            Order::Chronological => first.saturating_add(count),
            Order::Antichronological => last.saturating_sub(count).saturating_add(1),
        };
        let part = |first, last| Self {
            range: IdRange { first, last },
            ..self.clone()
        };
        let older = part(first, older_end.saturating_sub(1));
        let newer = part(older_end, last);
        match self.order {
            Order::Chronological => (older, Some(newer)),
            Order::Antichronological => (newer, Some(older)),
        }
    }

    /// Returns the rest of the scan after this chunk.
    fn after<T>(mut self, chunk: &Chunk<T>) -> Option<Self> {
        self.range = chunk.rest?;
        if let Some(limit) = self.limit {
            let count = u64::try_from(chunk.count).unwrap_or(u64::MAX);
            self.limit = Some(NonZeroU64::new(limit.get().saturating_sub(count))?);
        }
        Some(self)
    }

    /// Returns the ids that the scan still has to read after the event `id`.
    pub fn ids_after(&self, id: EventId) -> Option<IdRange> {
        self.order.remaining_range(self.range, id.get())
    }
}

/// Reads the stored events that match the options.
pub fn read_events<L>(log: L, subject: Subject, options: ReadOptions) -> EventStream
where
    L: Log + ChunkSource<Events = Vec<RecordedEvent>>,
{
    flatten(chunks(log.clone(), log, subject, options))
}

/// Reads the stored events that match the options, in chunks.
pub fn chunks<L: Log, C: ChunkSource>(
    log: L,
    source: C,
    subject: Subject,
    options: ReadOptions,
) -> impl Stream<Item = Result<C::Events, StoreError>> + Send + 'static {
    let begin = async move {
        options.check()?;
        let rest = first_scan(&log, subject, &options).await?;
        Ok::<_, StoreError>(ChunkPrefetcher::new(source, rest))
    };
    let chunks = |reading: ChunkPrefetcher<C>| {
        stream::try_unfold(reading, |mut reading| async {
            let events = reading.next_events().await?;
            Ok(events.map(|events| (events, reading)))
        })
    };
    stream::once(begin).map_ok(chunks).try_flatten()
}

async fn first_scan<L: Log>(
    log: &L,
    subject: Subject,
    options: &ReadOptions,
) -> Result<Option<Scan>, StoreError> {
    let bounds = IdRange::from_bounds(options.lower_bound, options.upper_bound);
    // The read excludes the events that are appended after its start.
    let length = *log.length().borrow();
    let Some(newest) = length.checked_sub(1) else {
        return Ok(None);
    };
    let first = match &options.from_latest_event {
        None => bounds.first,
        Some(wanted) => match (latest(log, wanted, length).await?, wanted.if_missing) {
            (Some(id), _) => id.get(),
            (None, IfEventIsMissing::ReadEverything) => 0,
            (None, IfEventIsMissing::Nothing) => return Ok(None),
        },
    };
    // A start below the lower bound is moved to it. A start above the upper bound leaves no events.
    let range = IdRange {
        first: first.max(bounds.first),
        last: bounds.last.min(newest),
    };
    Ok((range.first <= range.last).then(|| Scan {
        subject,
        recursive: options.recursive,
        order: options.order,
        range,
        event_types: options.event_types.as_slice().into(),
        limit: options.limit,
    }))
}

async fn latest<L: Log>(
    log: &L,
    wanted: &FromLatestEvent,
    length: u64,
) -> Result<Option<EventId>, StoreError> {
    let Some(last) = length.checked_sub(1) else {
        return Ok(None);
    };
    let range = IdRange { first: 0, last };
    log.find(
        &wanted.subject,
        &wanted.event_type,
        range,
        Order::Antichronological,
    )
    .await
}

fn flatten(
    chunks: impl Stream<Item = Result<Vec<RecordedEvent>, StoreError>> + Send + 'static,
) -> EventStream {
    Box::pin(ChunkFlattener {
        chunks: Box::pin(chunks),
        events: Vec::new().into_iter(),
    })
}

/// A stream of single events from chunks. Implemented by hand, because each stream adapter would move
/// every event once more, and events are large.
struct ChunkFlattener<C> {
    chunks: Pin<Box<C>>,
    events: vec::IntoIter<RecordedEvent>,
}

impl<C: Stream<Item = Result<Vec<RecordedEvent>, StoreError>>> Stream for ChunkFlattener<C> {
    type Item = Result<RecordedEvent, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.events.next() {
                return Poll::Ready(Some(Ok(event)));
            }
            match ready!(self.chunks.as_mut().poll_next(cx)) {
                Some(Ok(events)) => self.events = events.into_iter(),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(order: Order) -> Scan {
        Scan {
            subject: Subject::root(),
            recursive: true,
            order,
            range: IdRange { first: 3, last: 9 },
            event_types: Arc::default(),
            limit: None,
        }
    }

    fn is_gapless(scan: &Scan, count: usize, rest: Option<(u64, u64)>) -> bool {
        let rest = rest.map(|(first, last)| IdRange { first, last });
        scan.is_gapless(&Chunk {
            events: (),
            count,
            rest,
        })
    }

    #[test]
    fn a_chunk_of_all_events_has_no_gap() {
        let scan = scan(Order::Chronological);
        assert!(is_gapless(&scan, 7, None));
        assert!(is_gapless(&scan, 2, Some((5, 9))));
        assert!(!is_gapless(&scan, 0, None), "it skips all events");
        assert!(!is_gapless(&scan, 6, None), "it ends too early");
        assert!(!is_gapless(&scan, 2, Some((6, 9))), "it skips one event");
        assert!(!is_gapless(&scan, 2, Some((5, 8))), "its rest is too short");
        let backwards = self::scan(Order::Antichronological);
        assert!(is_gapless(&backwards, 2, Some((3, 7))));
        assert!(!is_gapless(&backwards, 2, Some((3, 6))));
    }

    #[test]
    fn a_chunk_of_some_events_may_skip_ids() {
        let mut scan = scan(Order::Chronological);
        scan.subject = "/a".parse().unwrap();
        assert!(is_gapless(&scan, 0, None));
    }
}
