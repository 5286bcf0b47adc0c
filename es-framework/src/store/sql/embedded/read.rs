//! Reading: a few connections of their own, a chunk at a time. Each chunk is a short transaction,
//! because a long one would keep the write-ahead log from being used again.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{CachedStatement, Connection};
use tokio::sync::{Semaphore, watch};

use super::{
    error::DiskError,
    row::{self, Decoder, select},
    schema,
    settings::Settings,
    tail::Family,
    writer::Shared,
};
use crate::{
    event::{EventId, EventType, RecordedEvent, Subject},
    store::{
        Order, StoreError,
        options::IdRange,
        scan::{Chunk, Log, Scan},
    },
};

/// How many events a chunk holds at most.
const CHUNK_EVENTS: usize = 1_000;
/// How many bytes of data a chunk holds at most, but for its last event.
const CHUNK_BYTES: usize = 1 << 20;
/// How many rows a chunk looks at for the events that match.
const CHUNK_ROWS: usize = 16_384;
/// Up to how many events below a subject are found by the index. Beyond, reading all events and
/// leaving out what does not match is faster than sorting.
const FAMILY_EVENTS: usize = 8_192;

const ALL_FORTH: &str = select!("WHERE id BETWEEN ?1 AND ?2 ORDER BY id");
const ALL_BACK: &str = select!("WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC");
const ONE: &str = select!("WHERE id = ?1");
const TYPE: &str = "SELECT type FROM events WHERE id = ?1";
const IDS_FORTH: &str = "SELECT event_id FROM subject_index \
     WHERE subject = ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id LIMIT ?4";
const IDS_BACK: &str = "SELECT event_id FROM subject_index \
     WHERE subject = ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id DESC LIMIT ?4";
const FAMILY: &str = "SELECT event_id FROM subject_index WHERE subject = ?1 \
     UNION ALL \
     SELECT event_id FROM subject_index WHERE subject >= ?2 AND subject < ?3 \
     LIMIT ?4";

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

/// Where a chunk's events are found.
enum Plan {
    /// Among all events.
    Rows,
    /// At these ids.
    Ids(Ids),
    /// Below a subject, if those are not too many.
    Family {
        family: Family,
        tail: Vec<u64>,
        indexed: u64,
    },
}

/// The first ids of one subject: those of the tail are known, those on disk are to be looked up.
struct Ids {
    subject: Subject,
    range: IdRange,
    order: Order,
    indexed: u64,
    tail: Vec<u64>,
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
    async fn with<T: Send + 'static>(
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

    fn connection(&self) -> Result<Connection, DiskError> {
        let idle = self.pool.idle.lock();
        let idle = idle.unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(schema::open_reader(&self.shared.file, &self.settings)?),
        }
    }

    /// Tail and disk overlap while a merge goes on; what is asked of each is cut where the disk is
    /// known to be complete, so the order in which the two are looked at does not matter.
    fn ids(&self, subject: &Subject, range: IdRange, order: Order) -> Ids {
        let tail = self.shared.tail();
        Ids {
            subject: subject.clone(),
            range,
            order,
            indexed: tail.indexed(),
            tail: tail.ids(subject.as_str(), range, order, CHUNK_EVENTS),
        }
    }

    fn plan(&self, scan: &Scan) -> Plan {
        if !scan.recursive {
            return Plan::Ids(self.ids(&scan.subject, scan.range, scan.order));
        }
        let IdRange { first, last } = scan.range;
        let is_short = last.saturating_sub(first) < row::number(CHUNK_ROWS).unsigned_abs();
        let family = Family::of(scan.subject.as_str());
        if is_short || family.itself.is_empty() {
            return Plan::Rows;
        }
        let tail = self.shared.tail();
        match tail.ids_within(&family, FAMILY_EVENTS) {
            None => Plan::Rows,
            Some(ids) => Plan::Family {
                family,
                tail: ids,
                indexed: tail.indexed(),
            },
        }
    }
}

#[async_trait]
impl Log for Reader {
    fn length(&self) -> watch::Receiver<u64> {
        self.length.clone()
    }

    async fn chunk(&self, scan: &Scan) -> Result<Chunk, StoreError> {
        let mut scan = scan.clone();
        let newest = self.shared.tail().length().checked_sub(1);
        let Some(newest) = newest.filter(|newest| scan.range.first <= *newest) else {
            let (events, rest) = (Vec::new(), None);
            return Ok(Chunk { events, rest });
        };
        scan.range.last = scan.range.last.min(newest);
        let plan = self.plan(&scan);
        self.with(move |connection| {
            let transaction = connection.unchecked_transaction()?;
            let chunk = plan.run(connection, &scan)?;
            transaction.commit()?;
            Ok(chunk)
        })
        .await
    }

    async fn find(
        &self,
        subject: &Subject,
        event_type: &EventType,
        mut range: IdRange,
        order: Order,
    ) -> Result<Option<EventId>, StoreError> {
        while range.first <= range.last {
            let ids = self.ids(subject, range, order);
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

/// What a look at some events of a subject came to.
enum Found {
    At(EventId),
    Nowhere,
    /// Not among those; this is the rest.
    NotYet(IdRange),
}

impl Ids {
    /// The first ids in order, [`CHUNK_EVENTS`] at most.
    fn look_up(&self, connection: &Connection) -> Result<Vec<u64>, DiskError> {
        let last = self
            .indexed
            .checked_sub(1)
            .map(|last| last.min(self.range.last));
        let Some(last) = last.filter(|last| self.range.first <= *last) else {
            return Ok(self.tail.clone());
        };
        let mut ids = Vec::new();
        if self.order == Order::Antichronological {
            ids.extend_from_slice(&self.tail);
        }
        let query = match self.order {
            Order::Chronological => IDS_FORTH,
            Order::Antichronological => IDS_BACK,
        };
        let mut statement = connection.prepare_cached(query)?;
        let (first, last) = (row::number(self.range.first), row::number(last));
        let room = row::number(CHUNK_EVENTS.saturating_sub(ids.len()));
        let mut rows = statement.query((self.subject.as_str(), first, last, room))?;
        while let Some(row) = rows.next()? {
            ids.push(row::id(row.get(0)?)?.get());
        }
        if self.order == Order::Chronological {
            ids.extend_from_slice(&self.tail);
            ids.truncate(CHUNK_EVENTS);
        }
        Ok(ids)
    }

    fn first_of(&self, connection: &Connection, wanted: &EventType) -> Result<Found, DiskError> {
        let transaction = connection.unchecked_transaction()?;
        let ids = self.look_up(connection)?;
        let mut statement = connection.prepare_cached(TYPE)?;
        for id in &ids {
            let number = row::number(*id);
            let is_wanted = one(&mut statement, number, |row| {
                let text = row.get_ref(0)?.as_str();
                let text = text.map_err(|error| row::flawed(number, error))?;
                Ok(text == wanted.as_str())
            })?;
            if is_wanted {
                return Ok(Found::At(row::id(number)?));
            }
        }
        drop(statement);
        transaction.commit()?;
        let last = ids.last().filter(|_| ids.len() >= CHUNK_EVENTS);
        let rest = last.and_then(|last| beyond(self.range, self.order, *last));
        Ok(rest.map_or(Found::Nowhere, Found::NotYet))
    }
}

fn beyond(range: IdRange, order: Order, id: u64) -> Option<IdRange> {
    let IdRange { first, last } = range;
    match order {
        Order::Chronological => Some(IdRange {
            first: id.checked_add(1)?,
            last,
        }),
        Order::Antichronological => Some(IdRange {
            first,
            last: id.checked_sub(1)?,
        }),
    }
}

impl Plan {
    fn run(self, connection: &Connection, scan: &Scan) -> Result<Chunk, DiskError> {
        match self {
            Self::Rows => rows(connection, scan),
            Self::Ids(ids) => {
                let ids = ids.look_up(connection)?;
                let is_cut = ids.len() >= CHUNK_EVENTS;
                at(connection, scan, &ids, is_cut)
            }
            Self::Family {
                family,
                tail,
                indexed,
            } => match within(connection, &family, tail, indexed)? {
                None => rows(connection, scan),
                Some(mut ids) => {
                    ids.retain(|id| (scan.range.first..=scan.range.last).contains(id));
                    ids.sort_unstable();
                    if scan.order == Order::Antichronological {
                        ids.reverse();
                    }
                    at(connection, scan, &ids, false)
                }
            },
        }
    }
}

/// All ids of a subject and of those below it, in no order; `None` if they are too many.
fn within(
    connection: &Connection,
    family: &Family,
    mut ids: Vec<u64>,
    indexed: u64,
) -> Result<Option<Vec<u64>>, DiskError> {
    let mut statement = connection.prepare_cached(FAMILY)?;
    let most = row::number(FAMILY_EVENTS.saturating_add(1));
    let bounds = (
        &*family.itself,
        &*family.below_from,
        &*family.below_to,
        most,
    );
    let mut rows = statement.query(bounds)?;
    let mut seen = 0_usize;
    while let Some(row) = rows.next()? {
        let id = row::id(row.get(0)?)?.get();
        seen = seen.saturating_add(1);
        if id < indexed {
            ids.push(id);
        }
    }
    Ok((seen <= FAMILY_EVENTS).then_some(ids))
}

/// The events at these ids, as many as a chunk holds. `is_cut`: there are more ids than these.
fn at(connection: &Connection, scan: &Scan, ids: &[u64], is_cut: bool) -> Result<Chunk, DiskError> {
    let mut statement = connection.prepare_cached(ONE)?;
    let mut decoder = Decoder::default();
    let mut gathered = Gathered::default();
    for id in ids {
        let event = one(&mut statement, row::number(*id), |row| decoder.event(row))?;
        gathered.push(event);
        if gathered.is_full() {
            break;
        }
    }
    let is_all = gathered.events.len() == ids.len() && !is_cut;
    let last = gathered.events.last().filter(|_| !is_all);
    let rest = last.and_then(|last| scan.beyond(last.id));
    let events = gathered.events;
    Ok(Chunk { events, rest })
}

/// What a query finds at an id that the index names.
fn one<T>(
    statement: &mut CachedStatement<'_>,
    id: i64,
    read: impl FnOnce(&rusqlite::Row<'_>) -> Result<T, DiskError>,
) -> Result<T, DiskError> {
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => read(row),
        None => Err(row::flawed(id, "is missing")),
    }
}

/// The events that match among the next rows.
fn rows(connection: &Connection, scan: &Scan) -> Result<Chunk, DiskError> {
    let mut statement = connection.prepare_cached(match scan.order {
        Order::Chronological => ALL_FORTH,
        Order::Antichronological => ALL_BACK,
    })?;
    let family = Family::of(scan.subject.as_str());
    let bounds = (row::number(scan.range.first), row::number(scan.range.last));
    let mut rows = statement.query(bounds)?;
    let mut decoder = Decoder::default();
    let mut gathered = Gathered::default();
    let mut rest = Some(scan.range);
    for _ in 0..CHUNK_ROWS {
        let Some(left) = rest.filter(|_| !gathered.is_full()) else {
            break;
        };
        let due = row::number(match scan.order {
            Order::Chronological => left.first,
            Order::Antichronological => left.last,
        });
        // Ids have no gaps: a row that is not there was lost.
        let row = rows.next()?.ok_or_else(|| row::flawed(due, "is missing"))?;
        let number: i64 = row.get(0)?;
        if number != due {
            return Err(row::flawed(due, "is missing"));
        }
        let subject = row.get_ref(1)?.as_str();
        if family.has(subject.map_err(|error| row::flawed(number, error))?) {
            gathered.push(decoder.event(row)?);
        }
        rest = scan.beyond(row::id(number)?);
    }
    let events = gathered.events;
    Ok(Chunk { events, rest })
}

/// Events on their way into a chunk.
#[derive(Default)]
struct Gathered {
    events: Vec<RecordedEvent>,
    bytes: usize,
}

impl Gathered {
    fn push(&mut self, event: RecordedEvent) {
        self.bytes = self.bytes.saturating_add(event.data.get().len());
        self.events.push(event);
    }

    fn is_full(&self) -> bool {
        self.events.len() >= CHUNK_EVENTS || self.bytes >= CHUNK_BYTES
    }
}
