//! Reading: a few connections of their own, a chunk at a time. Each chunk is a short transaction,
//! because a long one would keep the write-ahead log from being used again.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{Semaphore, watch};

use super::{
    error::DiskError,
    gather::{Events, Gather, Lines},
    ids::{Found, Ids},
    plan::Plan,
    schema,
    settings::Settings,
    shared::Shared,
};
use crate::{
    event::{EventId, EventType, LineShape, RecordedEvent, Subject},
    store::{
        Order, StoreError,
        options::IdRange,
        scan::{Chunk, Chunks, Log, Scan},
    },
};

/// Reads events. Cheap to clone; does not keep the writer alive.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    shared: Arc<Shared>,
    length: watch::Receiver<u64>,
    pool: Arc<Pool>,
    settings: Settings,
}

#[derive(Debug)]
struct Pool {
    idle: Mutex<Vec<Connection>>,
    running: Semaphore,
}

impl Reader {
    pub(super) fn new(
        shared: Arc<Shared>,
        length: watch::Receiver<u64>,
        settings: Settings,
    ) -> Self {
        let pool = Arc::new(Pool {
            idle: Mutex::default(),
            running: Semaphore::new(settings.readers),
        });
        Self {
            shared,
            length,
            pool,
            settings,
        }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the disk answers.
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached("SELECT indexed FROM index_state")?;
            Ok(statement.query_row([], |_| Ok(()))?)
        })
        .await
    }

    /// Closes the connections that nobody uses.
    pub(super) fn release(&self) {
        let idle = self.pool.idle.lock();
        idle.unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Runs a query on a connection of the pool, off the async threads. A connection that failed
    /// is not used again.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, DiskError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let gone = |reason: String| StoreError::Unavailable {
            address: self.shared.file.display().to_string(),
            reason,
        };
        let running = self.pool.running.acquire().await;
        let _running = running.map_err(|error| gone(error.to_string()))?;
        let reader = self.clone();
        let run = move || {
            let connection = reader.connection()?;
            let result = query(&connection)?;
            let idle = reader.pool.idle.lock();
            idle.unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            Ok(result)
        };
        match tokio::task::spawn_blocking(run).await {
            Ok(result) => result.map_err(|error: DiskError| error.at(&self.shared.file)),
            Err(error) => Err(gone(error.to_string())),
        }
    }

    /// The next rows of a scan, as what `gather` makes of so many.
    async fn gather<G: Gather<Events: Send>>(
        &self,
        scan: &Scan,
        gather: impl FnOnce(usize) -> G + Send + 'static,
    ) -> Result<Chunk<G::Events>, StoreError>
    where
        G::Events: Default + 'static,
    {
        let mut scan = scan.clone();
        let mut limits = self.settings.chunk;
        let most = scan.at_most(limits.events);
        // Of a subject's events all are wanted, unless they are chosen by their types.
        if scan.event_types.is_empty() {
            limits.events = most;
        }
        let plan = {
            let tail = self.shared.tail();
            let newest = tail.length().checked_sub(1);
            let Some(newest) = newest.filter(|newest| scan.range.first <= *newest) else {
                return Ok(Chunk {
                    events: G::Events::default(),
                    count: 0,
                    rest: None,
                });
            };
            scan.range.last = scan.range.last.min(newest);
            // After the tail, so that it has the type of every event there.
            let catalogue = self.shared.catalogue();
            let first = |wanted: &EventType| Some(catalogue.first(wanted)?.get());
            let types = (!scan.event_types.is_empty()).then(|| {
                scan.event_types
                    .iter()
                    .filter_map(first)
                    .collect::<Vec<_>>()
            });
            Plan::of(&scan, types.as_deref(), &tail, limits)
        };
        self.with(move |connection| {
            let transaction = connection.unchecked_transaction()?;
            let chunk = plan.run(connection, &scan, limits, gather(most))?;
            transaction.commit()?;
            Ok(chunk)
        })
        .await
    }

    fn connection(&self) -> Result<Connection, DiskError> {
        let idle = self.pool.idle.lock();
        let idle = idle.unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(schema::open_reader(&self.shared.file, &self.settings)?),
        }
    }
}

#[async_trait]
impl Chunks for Reader {
    type Events = Vec<RecordedEvent>;

    const EVENTS: u64 = 1_000;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        let limits = self.settings.chunk;
        self.gather(scan, move |most| Events::new(most, limits))
            .await
    }
}

/// Reads events as lines.
#[derive(Debug, Clone)]
pub(super) struct LineReader {
    pub(super) reader: Reader,
    pub(super) shape: LineShape,
}

#[async_trait]
impl Chunks for LineReader {
    type Events = Vec<u8>;

    const EVENTS: u64 = 512;

    async fn chunk(&self, scan: &Scan) -> Result<Chunk<Vec<u8>>, StoreError> {
        let (limits, shape) = (self.reader.settings.chunk, self.shape);
        let lines = move |most| Lines::new(most, shape, limits);
        self.reader.gather(scan, lines).await
    }
}

#[async_trait]
impl Log for Reader {
    fn length(&self) -> watch::Receiver<u64> {
        self.length.clone()
    }

    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        mut range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError> {
        while range.first <= range.last {
            let limits = self.settings.chunk;
            let ids = Ids::new(&self.shared.tail(), subject, range, order, limits);
            let wanted = event_type.clone();
            let found = self.with(move |connection| ids.first_of(connection, &wanted));
            range = match found.await? {
                Found::At(id) => return Ok(Some(id)),
                Found::Nowhere => return Ok(None),
                Found::NotYet(rest) => rest,
            };
        }
        Ok(None)
    }
}
