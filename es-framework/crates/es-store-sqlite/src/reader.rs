//! Reads events in chunks, on a pool of connections. Each chunk is a short transaction, because a
//! long one would keep the write-ahead log from being reused.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{Semaphore, watch};

use super::{
    chunk_collector::{ChunkCollector, EventChunkCollector, LineChunkCollector},
    database_error::SqliteError,
    database_format,
    index::{IndexLookup, subject_key},
    row::{self, row_with_id, select},
    row_checksum,
    scan_plan::ReadPlan,
    shared::SharedState,
    store_settings::EngineSettings,
};
use es_event::{EventId, EventType, LineFormat, RecordedEvent, Subject};
use es_store::{
    Order, StoreError, max_inline_reads,
    options::IdRange,
    scan::{Chunk, ChunkSource, Log, Scan},
};

const EVENT: &str = select!("WHERE id = ?1");

/// Reads events. A clone is cheap and does not keep the writer alive.
#[derive(Debug, Clone)]
pub(super) struct EventReader {
    shared: Arc<SharedState>,
    length: watch::Receiver<u64>,
    pool: Arc<ConnectionPool>,
    pub(super) settings: EngineSettings,
}

/// The idle connections.
#[derive(Debug)]
struct ConnectionPool {
    idle: Mutex<Vec<Connection>>,
    /// One permit for each read that runs.
    running: Semaphore,
    /// One permit for each read that runs on an async thread.
    inline: Semaphore,
}

/// The events of a read that is cheaper than handing it to another thread.
const SHORT_READ: usize = 32;

impl EventReader {
    pub(super) fn new(
        shared: Arc<SharedState>,
        length: watch::Receiver<u64>,
        settings: EngineSettings,
    ) -> Self {
        let pool = Arc::new(ConnectionPool {
            idle: Mutex::default(),
            running: Semaphore::new(settings.readers),
            inline: Semaphore::new(max_inline_reads()),
        });
        Self {
            shared,
            length,
            pool,
            settings,
        }
    }

    pub(super) fn shared(&self) -> &SharedState {
        &self.shared
    }

    pub(super) const fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Checks whether the disk answers.
    pub(super) async fn check_disk(&self) -> Result<(), StoreError> {
        self.with_connection(|connection| {
            let mut statement = connection.prepare_cached("SELECT indexed FROM index_state")?;
            Ok(statement.query_row([], |_| Ok(()))?)
        })
        .await
    }

    /// Closes the idle connections.
    pub(super) fn close_idle(&self) {
        let idle = self.pool.idle.lock();
        idle.unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Runs a query on a connection of the pool, outside the async threads.
    pub(super) async fn with_connection<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let running = self.pool.running.acquire().await;
        let _running = running.map_err(|error| self.unavailable(&error))?;
        let reader = self.clone();
        tokio::task::spawn_blocking(move || reader.run(query))
            .await
            .unwrap_or_else(|error| Err(self.unavailable(&error)))
    }

    /// Runs a short query on the calling thread, or like [`with_connection`](Self::with_connection) while
    /// other queries keep the async threads busy.
    async fn with_connection_inline<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, SqliteError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let (Ok(_running), Ok(_inline)) = (
            self.pool.running.try_acquire(),
            self.pool.inline.try_acquire(),
        ) {
            return self.run(query);
        }
        self.with_connection(query).await
    }

    /// Runs a query on a connection of the pool. A connection that failed is not used again.
    fn run<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let result = self.connection().and_then(|connection| {
            let result = query(&connection)?;
            let idle = self.pool.idle.lock();
            idle.unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            Ok(result)
        });
        result.map_err(|error| {
            self.shared.note_damage(&error);
            error.to_store_error(&self.shared.file)
        })
    }

    fn unavailable(&self, reason: &dyn Display) -> StoreError {
        StoreError::Unavailable {
            address: self.shared.file.display().to_string(),
            reason: reason.to_string(),
        }
    }

    /// Reads the next events of a scan, at most `limit`, with a collector of at most the given number of
    /// events.
    async fn read_chunk<B: ChunkCollector<Output: Send>>(
        &self,
        scan: &Scan,
        limit: usize,
        new_builder: impl FnOnce(usize) -> B + Send + 'static,
    ) -> Result<Chunk<B::Output>, StoreError>
    where
        B::Output: Default + 'static,
    {
        let mut scan = scan.clone();
        let most = scan.next_count(limit);
        // A filter by type may drop most of the rows, so the limit of the scan bounds the lookup only
        // without such a filter.
        let lookup_limit = if scan.event_types.is_empty() {
            most
        } else {
            limit
        };
        let plan = {
            let log = self.shared.log();
            let newest = log.index.len().checked_sub(1);
            let Some(newest) = newest.filter(|newest| scan.range.first <= *newest) else {
                return Ok(Chunk {
                    events: B::Output::default(),
                    count: 0,
                    rest: None,
                });
            };
            scan.range.last = scan.range.last.min(newest);
            ReadPlan::choose(&scan, &log.index, lookup_limit)
        };
        let read = move |connection: &Connection| {
            let transaction = connection.unchecked_transaction()?;
            let chunk = plan.read_chunk(connection, &scan, new_builder(most))?;
            transaction.commit()?;
            Ok(chunk)
        };
        if limit <= SHORT_READ {
            self.with_connection_inline(read).await
        } else {
            self.with_connection(read).await
        }
    }

    async fn read_events(&self, scan: &Scan, limit: usize) -> Result<Chunk, StoreError> {
        let limits = self.settings.chunk;
        let events = move |most| EventChunkCollector::new(most, limits);
        self.read_chunk(scan, limit, events).await
    }

    fn connection(&self) -> Result<Connection, SqliteError> {
        let idle = self.pool.idle.lock();
        let idle = idle.unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(database_format::open_reader(
                &self.shared.file,
                &self.settings,
            )?),
        }
    }
}

#[async_trait]
impl ChunkSource for EventReader {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = 1_000;

    async fn first_chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        self.read_events(scan, SHORT_READ).await
    }

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        self.read_events(scan, self.settings.chunk.events).await
    }
}

/// Reads events as lines.
#[derive(Debug, Clone)]
pub(super) struct LineReader {
    pub(super) reader: EventReader,
    pub(super) shape: LineFormat,
}

#[async_trait]
impl ChunkSource for LineReader {
    type Events = Vec<u8>;

    const EVENTS: u64 = 512;

    async fn first_chunk(&self, scan: &Scan) -> Result<Chunk<Vec<u8>>, StoreError> {
        self.read_lines(scan, SHORT_READ).await
    }

    async fn chunk(&self, scan: &Scan) -> Result<Chunk<Vec<u8>>, StoreError> {
        self.read_lines(scan, self.reader.settings.chunk.events)
            .await
    }
}

impl LineReader {
    async fn read_lines(&self, scan: &Scan, limit: usize) -> Result<Chunk<Vec<u8>>, StoreError> {
        let (limits, shape) = (self.reader.settings.chunk, self.shape);
        let lines = move |most| LineChunkCollector::new(most, shape, limits);
        self.reader.read_chunk(scan, limit, lines).await
    }
}

#[async_trait]
impl Log for EventReader {
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
        let mut left = Some(range);
        while let Some(range) = left.filter(|left| left.first <= left.last) {
            let limit = self.settings.chunk.events;
            let keys = vec![subject_key(subject.as_str())];
            let lookup = self.shared.log().index.lookup(keys, range, order, limit);
            let event_type = event_type.clone();
            let search = move |connection: &Connection| {
                find_type(connection, lookup, &event_type, order, range)
            };
            match self.with_connection(search).await? {
                TypeSearch::Found(id) => return Ok(Some(id)),
                TypeSearch::Continue(rest) => left = rest,
            }
        }
        Ok(None)
    }
}

/// The result of one step of a search for an event type.
enum TypeSearch {
    Found(EventId),
    /// The ids that are left to search, if there are any.
    Continue(Option<IdRange>),
}

/// Finds the first event of a type among those of a lookup.
fn find_type(
    connection: &Connection,
    lookup: IndexLookup,
    event_type: &EventType,
    order: Order,
    range: IdRange,
) -> Result<TypeSearch, SqliteError> {
    let transaction = connection.unchecked_transaction()?;
    let events = lookup.read_ids(connection)?;
    let mut statement = connection.prepare_cached(EVENT)?;
    for id in &events.ids {
        let number = row::number(*id);
        let is_of_type = row_with_id(&mut statement, number, |row| {
            row_checksum::read_checked(row)?;
            let text = row.get_ref(2)?.as_str();
            let text = text.map_err(|error| SqliteError::flawed_event(number, error))?;
            Ok(text == event_type.as_str())
        })?;
        if is_of_type {
            return Ok(TypeSearch::Found(row::to_event_id(number)?));
        }
    }
    drop(statement);
    transaction.commit()?;
    let last = events.ids.last().filter(|_| events.is_truncated);
    let rest = last.and_then(|last| order.remaining_range(range, *last));
    Ok(TypeSearch::Continue(rest))
}
