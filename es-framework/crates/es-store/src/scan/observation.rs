//! Subscriptions: first the stored events, then the new ones.

use std::sync::Arc;

use futures_util::stream;
use tokio::sync::watch;

use super::{Chunk, ChunkSource, Log, Scan, flatten, latest};
use crate::{EventStream, IfEventIsMissing, ObserveOptions, Order, StoreError, options::IdRange};
use es_event::{RecordedEvent, Subject};

/// Subscribes to the stored events that match the options, and then to the new ones.
pub fn observe_events<L: Log, C: ChunkSource<Events = Vec<RecordedEvent>>>(
    log: L,
    source: C,
    subject: Subject,
    options: ObserveOptions,
) -> EventStream {
    let length = log.length();
    let observer = Observer {
        log,
        source,
        length,
        subject,
        options,
        next: NextPosition::Undecided,
    };
    flatten(stream::try_unfold(observer, |mut observer| async {
        let events = observer.next_events().await?;
        Ok(Some((events, observer)))
    }))
}

/// The state of one subscription.
struct Observer<L, C> {
    log: L,
    source: C,
    length: watch::Receiver<u64>,
    subject: Subject,
    options: ObserveOptions,
    next: NextPosition,
}

/// The position from which a subscriber continues.
#[derive(Clone, Copy)]
enum NextPosition {
    /// The start is not decided yet.
    Undecided,
    /// The event to start from does not exist before this id.
    Awaiting(u64),
    /// The id of the next event to read.
    At(u64),
}

impl<L: Log, C: ChunkSource<Events = Vec<RecordedEvent>>> Observer<L, C> {
    async fn next_events(&mut self) -> Result<Vec<RecordedEvent>, StoreError> {
        loop {
            let length = *self.length.borrow_and_update();
            if let Some(first) = self.advance(length).await?.filter(|first| *first < length) {
                let events = self.take(first, length).await?;
                if !events.is_empty() {
                    return Ok(events);
                }
                continue;
            }
            if self.length.changed().await.is_err() {
                return Err(StoreError::Unavailable {
                    address: "in this process".into(),
                    reason: "it was closed".into(),
                });
            }
        }
    }

    /// Returns the id to continue from. The first call decides the start.
    async fn advance(&mut self, length: u64) -> Result<Option<u64>, StoreError> {
        self.next = match (self.next, &self.options.from_latest_event) {
            (NextPosition::At(id), _) => NextPosition::At(id),
            (NextPosition::Undecided, None) => {
                self.options.check()?;
                NextPosition::At(IdRange::from_bounds(self.options.lower_bound, None).first)
            }
            (NextPosition::Undecided, Some(wanted)) => {
                self.options.check()?;
                match (latest(&self.log, wanted, length).await?, wanted.if_missing) {
                    (Some(id), _) => NextPosition::At(id.get()),
                    (None, IfEventIsMissing::ReadEverything) => NextPosition::At(0),
                    (None, IfEventIsMissing::Nothing) => NextPosition::Awaiting(length),
                }
            }
            (NextPosition::Awaiting(first), Some(wanted)) if first < length => {
                let range = IdRange {
                    first,
                    last: length.saturating_sub(1),
                };
                let found = self
                    .log
                    .find(
                        &wanted.subject,
                        &wanted.event_type,
                        range,
                        Order::Chronological,
                    )
                    .await?;
                found.map_or(NextPosition::Awaiting(length), |id| {
                    NextPosition::At(id.get())
                })
            }
            (waiting @ NextPosition::Awaiting(_), _) => waiting,
        };
        Ok(match self.next {
            NextPosition::At(id) => Some(id),
            NextPosition::Undecided | NextPosition::Awaiting(_) => None,
        })
    }

    /// Returns the next chunk of events below `length`, and moves the position behind it.
    async fn take(&mut self, first: u64, length: u64) -> Result<Vec<RecordedEvent>, StoreError> {
        let scan = Scan {
            subject: self.subject.clone(),
            recursive: self.options.recursive,
            order: Order::Chronological,
            range: IdRange {
                first,
                last: length.saturating_sub(1),
            },
            event_types: Arc::default(),
            limit: None,
        };
        let Chunk { events, rest, .. } = self.source.chunk(&scan).await?;
        self.next = NextPosition::At(rest.map_or(length, |rest| rest.first));
        Ok(events)
    }
}
