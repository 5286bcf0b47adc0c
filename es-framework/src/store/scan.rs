//! Reading and observing over anything that hands out events a chunk at a time. The adapters that
//! hold the events themselves share it.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    vec,
};

use async_trait::async_trait;
use futures_util::{Stream, TryStreamExt as _, stream};
use tokio::{sync::watch, task::JoinHandle};

use super::{
    EventStream, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, ReadOptions, StoreError,
    options::IdRange,
};
use crate::event::{EventId, EventType, RecordedEvent, Subject};

/// Which events of a log to take.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) subject: Subject,
    pub(crate) recursive: bool,
    pub(crate) order: Order,
    pub(crate) range: IdRange,
}

/// Some events of a scan and what is left of it.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// In the scan's order. May be empty although there is a rest.
    pub(crate) events: Vec<RecordedEvent>,
    /// The ids that were not looked at yet; `None` at the end.
    pub(crate) rest: Option<IdRange>,
}

/// Events that can be taken a chunk at a time.
#[async_trait]
pub(crate) trait Log: Clone + Send + Sync + 'static {
    /// How many events there are, told to those who wait for more.
    fn length(&self) -> watch::Receiver<u64>;

    /// The next events of a scan: never more than memory should hold at once.
    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError>;

    /// The first or the latest event of this subject and type in a range of ids.
    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError>;
}

impl Scan {
    pub(crate) fn matches(&self, subject: &Subject) -> bool {
        *subject == self.subject || (self.recursive && subject.is_within(&self.subject))
    }

    /// What is left once the event `id` was delivered.
    pub(crate) fn beyond(&self, id: EventId) -> Option<IdRange> {
        let IdRange { first, last } = self.range;
        let rest = match self.order {
            Order::Chronological => IdRange {
                first: id.get().checked_add(1)?,
                last,
            },
            Order::Antichronological => IdRange {
                first,
                last: id.get().checked_sub(1)?,
            },
        };
        (rest.first <= rest.last).then_some(rest)
    }
}

/// The stored events that the options ask for.
pub(crate) fn read<L: Log>(log: L, subject: Subject, options: ReadOptions) -> EventStream {
    let begin = async move {
        options.check()?;
        let rest = first_scan(&log, subject, &options).await?;
        Ok::<_, StoreError>(Reading {
            log,
            rest,
            ahead: None,
            goes_on: false,
        })
    };
    let chunks = |reading: Reading<L>| {
        stream::try_unfold(reading, |mut reading| async {
            let events = reading.next_events().await?;
            Ok(events.map(|events| (events, reading)))
        })
    };
    flatten(stream::once(begin).map_ok(chunks).try_flatten())
}

/// One read and how far it has come.
struct Reading<L> {
    log: L,
    rest: Option<Scan>,
    /// The next chunk, on its way while the events before it are handed out.
    ahead: Option<JoinHandle<Result<Chunk, StoreError>>>,
    goes_on: bool,
}

impl<L: Log> Reading<L> {
    async fn next_events(&mut self) -> Result<Option<Vec<RecordedEvent>>, StoreError> {
        let Some(mut scan) = self.rest.take() else {
            return Ok(None);
        };
        let Chunk { events, rest } = match self.ahead.take() {
            None => self.log.chunk(&scan).await?,
            Some(ahead) => ahead.await.map_err(|error| StoreError::Unavailable {
                address: "in this process".into(),
                reason: error.to_string(),
            })??,
        };
        if let Some(range) = rest {
            scan.range = range;
            // Many readers want the first event or two, so only the second chunk has one ahead.
            // A task, not a future that waits to be asked: what it holds of the log is free again
            // when it is done, however slow this reader is.
            self.ahead = self.goes_on.then(|| {
                let (log, scan) = (self.log.clone(), scan.clone());
                tokio::spawn(async move { log.chunk(&scan).await })
            });
            self.rest = Some(scan);
        }
        self.goes_on = true;
        Ok(Some(events))
    }
}

async fn first_scan<L: Log>(
    log: &L,
    subject: Subject,
    options: &ReadOptions,
) -> Result<Option<Scan>, StoreError> {
    let bounds = IdRange::of(options.lower_bound, options.upper_bound);
    // What is written from now on does not belong to this read.
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
    // Never before the lower end of the bounds: beyond their upper end they leave nothing.
    let range = IdRange {
        first: first.max(bounds.first),
        last: bounds.last.min(newest),
    };
    let (recursive, order) = (options.recursive, options.order);
    Ok((range.first <= range.last).then_some(Scan {
        subject,
        recursive,
        order,
        range,
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

/// The stored events that the options ask for, and then the new ones.
pub(crate) fn observe<L: Log>(log: L, subject: Subject, options: ObserveOptions) -> EventStream {
    let length = log.length();
    let observer = Observer {
        log,
        length,
        subject,
        options,
        next: Next::Undecided,
    };
    flatten(stream::try_unfold(observer, |mut observer| async {
        let events = observer.next_events().await?;
        Ok(Some((events, observer)))
    }))
}

fn flatten(
    chunks: impl Stream<Item = Result<Vec<RecordedEvent>, StoreError>> + Send + 'static,
) -> EventStream {
    Box::pin(Flat {
        chunks: Box::pin(chunks),
        events: Vec::new().into_iter(),
    })
}

/// Chunks as single events. By hand, because each adapter in between would move every event once
/// more, and an event is large.
struct Flat<C> {
    chunks: Pin<Box<C>>,
    events: vec::IntoIter<RecordedEvent>,
}

impl<C: Stream<Item = Result<Vec<RecordedEvent>, StoreError>>> Stream for Flat<C> {
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

/// One observer and how far it has come.
struct Observer<L> {
    log: L,
    length: watch::Receiver<u64>,
    subject: Subject,
    options: ObserveOptions,
    next: Next,
}

/// Where an observer goes on.
#[derive(Clone, Copy)]
enum Next {
    /// Nothing was looked at yet.
    Undecided,
    /// The event to start from is not among the events before this id.
    Awaiting(u64),
    /// The next event to look at.
    At(u64),
}

impl<L: Log> Observer<L> {
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

    /// Decides where to start, once; afterwards says where to go on.
    async fn advance(&mut self, length: u64) -> Result<Option<u64>, StoreError> {
        self.next = match (self.next, &self.options.from_latest_event) {
            (Next::At(id), _) => Next::At(id),
            (Next::Undecided, None) => {
                self.options.check()?;
                Next::At(IdRange::of(self.options.lower_bound, None).first)
            }
            (Next::Undecided, Some(wanted)) => {
                self.options.check()?;
                match (latest(&self.log, wanted, length).await?, wanted.if_missing) {
                    (Some(id), _) => Next::At(id.get()),
                    (None, IfEventIsMissing::ReadEverything) => Next::At(0),
                    (None, IfEventIsMissing::Nothing) => Next::Awaiting(length),
                }
            }
            (Next::Awaiting(first), Some(wanted)) if first < length => {
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
                found.map_or(Next::Awaiting(length), |id| Next::At(id.get()))
            }
            (waiting @ Next::Awaiting(_), _) => waiting,
        };
        Ok(match self.next {
            Next::At(id) => Some(id),
            Next::Undecided | Next::Awaiting(_) => None,
        })
    }

    async fn take(&mut self, first: u64, length: u64) -> Result<Vec<RecordedEvent>, StoreError> {
        let scan = Scan {
            subject: self.subject.clone(),
            recursive: self.options.recursive,
            order: Order::Chronological,
            range: IdRange {
                first,
                last: length.saturating_sub(1),
            },
        };
        let Chunk { events, rest } = self.log.chunk(&scan).await?;
        self.next = Next::At(rest.map_or(length, |rest| rest.first));
        Ok(events)
    }
}
