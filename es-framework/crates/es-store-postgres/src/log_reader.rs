//! Reads of the log: in steps, through the connections that read.

use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqlx::PgConnection;
use tokio::sync::watch;

use super::{
    database_error::DatabaseError,
    event_selection::{self, StepLimits},
    log_head,
    read_pool::{ReadPool, ReadStep},
    seen_event::SeenEvent,
    store_state::StoreState,
};
use es_event::{EventId, EventType, RecordedEvent, Subject};
use es_store::{
    EventStream, ObserveOptions, Order, ReadOptions, StoreError,
    options::IdRange,
    scan::{self, Chunk, ChunkSource, Log, Scan},
};

/// Reads the log for any number of callers.
#[derive(Debug, Clone)]
pub(super) struct LogReader {
    pub(super) pool: Arc<ReadPool>,
    pub(super) state: Arc<StoreState>,
}

impl LogReader {
    /// Returns the number of stored events.
    pub(super) async fn read_length(&self) -> Result<u64, StoreError> {
        let last = self.pool.run_step(&self.state, &LastEventReadStep).await?;
        last.into_iter()
            .for_each(|last| self.state.record_seen(last));
        Ok(EventId::count_to(last.map(|last| last.id)))
    }

    /// Reads the stored events that match the options.
    pub(super) fn read_events(self, subject: Subject, options: ReadOptions) -> EventStream {
        let begin = async move {
            // Each step returns its events and the end of the log. Only two kinds of reads need the end
            // before their first step, so most reads save a request.
            let is_everything = options.recursive && subject == Subject::root();
            let length = if is_everything || options.from_latest_event.is_some() {
                self.read_length().await?
            } else {
                EventId::MAX.saturating_add(1)
            };
            let (_, length) = watch::channel(length);
            let log = BoundedLog::new(self, length);
            Ok::<_, StoreError>(scan::read_events(log, subject, options))
        };
        stream::once(begin).try_flatten().boxed()
    }

    /// Subscribes to the events that match the options.
    pub(super) fn observe_events(self, subject: Subject, options: ObserveOptions) -> EventStream {
        let length = self.state.length();
        let state = Arc::clone(&self.state);
        let mut losses = state.losses();
        let log = BoundedLog::new(self, length);
        let events = scan::observe_events(log.clone(), log, subject, options);
        // A subscription that waits for new events reads nothing, so it would not notice that some are gone.
        let before = *losses.borrow_and_update();
        let events = events.take_until(async move { losses.changed().await });
        let end = stream::once(async move {
            let is_lost = *state.losses().borrow() != before;
            is_lost.then(|| Err(state.lost()))
        });
        events.chain(end.filter_map(ready)).boxed()
    }
}

/// The log up to the length that one read sees.
#[derive(Debug, Clone)]
struct BoundedLog {
    reader: LogReader,
    length: watch::Receiver<u64>,
    /// The number of events of the next step. It follows the size of the events, so that the server
    /// does not send much more than a step takes.
    step: Arc<AtomicUsize>,
}

impl BoundedLog {
    fn new(reader: LogReader, length: watch::Receiver<u64>) -> Self {
        let step = Arc::new(AtomicUsize::new(reader.state.limits.chunk_events));
        Self {
            reader,
            length,
            step,
        }
    }
}

#[async_trait]
impl ChunkSource for BoundedLog {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = 1_000;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        let LogReader { pool, state } = &self.reader;
        let limits = StepLimits {
            events: self.step.load(Ordering::Relaxed),
            bytes: state.limits.chunk_bytes,
        };
        let step = ChunkReadStep {
            scan,
            limits,
            known: *state.length().borrow(),
            // A read that does not know the length ends where the log of the server ends.
            is_bounded: *self.length.borrow() <= EventId::MAX,
        };
        let chunk = pool.run_step(state, &step).await?;
        let size = chunk.events.iter().map(|event| event.data.get().len());
        let is_large = size.fold(0, usize::saturating_add) >= limits.bytes;
        let next = if is_large {
            chunk.count.max(1)
        } else {
            limits.events.saturating_mul(2)
        };
        let most = state.limits.chunk_events;
        self.step.store(next.min(most), Ordering::Relaxed);
        Ok(chunk)
    }
}

#[async_trait]
impl Log for BoundedLog {
    fn length(&self) -> watch::Receiver<u64> {
        self.length.clone()
    }

    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError> {
        let LogReader { pool, state } = &self.reader;
        let find = EventSearchStep {
            subject,
            event_type,
            range,
            order,
        };
        pool.run_step(state, &find).await
    }
}

/// Reads one step of a scan.
struct ChunkReadStep<'a> {
    scan: &'a Scan,
    limits: StepLimits,
    /// True if the scan ends at an event that is known to be stored.
    is_bounded: bool,
    /// The number of events that this instance knew before the read.
    known: u64,
}

#[async_trait]
impl ReadStep for ChunkReadStep<'_> {
    type Output = Chunk;

    /// Reads the chunk. A subscriber continues behind the last id of its scan, so the server must have that event,
    /// whether or not the scan includes it.
    async fn run(&self, connection: &mut PgConnection) -> Result<Chunk, DatabaseError> {
        let Self {
            scan,
            limits,
            known,
            ..
        } = *self;
        let (chunk, end) = event_selection::read_chunk(connection, scan, limits).await?;
        if EventId::count_to(end) < known {
            return Err(DatabaseError::Replaced);
        }
        if self.is_bounded {
            if end.is_none_or(|end| end.get() < scan.range.last) {
                return Err(DatabaseError::Replaced);
            }
            if !scan.is_gapless(&chunk) {
                return Err(event_selection::missing_event(scan, &chunk));
            }
        }
        Ok(chunk)
    }
}

/// Finds the first or the latest event of a subject and type.
struct EventSearchStep<'a> {
    subject: &'a Subject,
    event_type: &'a EventType,
    range: IdRange,
    order: Order,
}

#[async_trait]
impl ReadStep for EventSearchStep<'_> {
    type Output = Option<EventId>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Option<EventId>, DatabaseError> {
        let wanted = (self.subject, self.event_type);
        event_selection::find_event(connection, wanted, self.range, self.order).await
    }
}

/// Reads the last event.
struct LastEventReadStep;

#[async_trait]
impl ReadStep for LastEventReadStep {
    type Output = Option<SeenEvent>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Self::Output, DatabaseError> {
        log_head::read_last(connection).await
    }
}
