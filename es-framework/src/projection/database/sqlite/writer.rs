//! The connection that writes, on threads that may block.

use std::{
    alloc::{Layout, handle_alloc_error},
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, ffi};

use super::{
    super::{
        super::{
            Cell, RowKey, Table,
            fold::{Changes, StoredRow},
            tables,
        },
        Checkpoint, DatabaseError, Kept,
        lease::Lease,
    },
    BUSY_TIMEOUT, Location, freed,
    write::{read_checkpoint, read_row, remove, reset, swap, write_checkpoint, write_rows},
};

/// How many prepared statements are kept: three for each read model and a few besides.
const STATEMENTS: usize = 128;
/// The size of a page in memory, in bytes: half of SQLite's usual one, since each row copies some
/// pages whole, for keys come in no order.
const MEMORY_PAGE: u32 = 2_048;
/// What SQLite lets a database in memory grow to, in bytes. It is known to the transaction that would
/// go beyond, so that it fails before it has changed anything.
const MEMORY_LIMIT: u32 = 1 << 30;
/// The page cache of a file, in KiB, for the same reason.
const CACHE_KIB: i32 = 32 << 10;
/// After so many steps of its machine, those of about eight rows, a transaction gives way to other
/// threads.
const STEPS: i32 = 500;
/// From so many rows on it does not: the events come faster than they are taken in passing.
const MANY: usize = 1_000;

/// The one connection that writes. Its work is done on threads that may block.
#[derive(Debug, Clone)]
pub(in super::super) struct Writer {
    connection: Arc<Mutex<Connection>>,
    lease: Arc<Mutex<Option<Lease>>>,
    location: Location,
}

impl Writer {
    pub(super) async fn open(location: &Location) -> Result<Self, DatabaseError> {
        let location = location.clone();
        blocking(move || {
            let connection = connect(&location)?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS);
            Ok(Self {
                connection: Arc::new(Mutex::new(connection)),
                lease: Arc::default(),
                location,
            })
        })
        .await
    }

    /// Takes the right to write, unless another process has it.
    pub(in super::super) async fn take_lease(&self) -> Result<bool, DatabaseError> {
        let Location::File(path) = self.location.clone() else {
            // Nobody else knows of a database in memory.
            return Ok(true);
        };
        let held = Arc::clone(&self.lease);
        blocking(move || {
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            if held.is_none() {
                *held = Lease::take(&path)?;
            }
            Ok(held.is_some())
        })
        .await
    }

    /// Does something with the connection.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let connection = Arc::clone(&self.connection);
        let is_in_memory = matches!(self.location, Location::Memory(_));
        blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection).map_err(|error| match error {
                DatabaseError::Write(error) if is_in_memory => in_memory(error),
                error => error,
            })
        })
        .await
    }

    /// Does something all or nothing.
    async fn transact(
        &self,
        work: impl FnOnce(&Connection) -> Result<(), DatabaseError> + Send + 'static,
    ) -> Result<(), DatabaseError> {
        self.with(move |connection| {
            let transaction = connection.transaction()?;
            work(&transaction)?;
            Ok(transaction.commit()?)
        })
        .await
    }

    /// Creates the tables that are not there yet.
    pub(in super::super) async fn prepare(
        &self,
        wanted: Arc<BTreeMap<&'static str, Table>>,
    ) -> Result<(), DatabaseError> {
        self.transact(move |transaction| {
            transaction.execute_batch(tables::CREATE_CHECKPOINTS)?;
            transaction.execute_batch(tables::CREATE_SKIPPED)?;
            for table in wanted.values() {
                let kept = read_checkpoint(transaction, table)?;
                if !kept.is_some_and(|kept| kept.is_of(table) || kept.checkpoint.is_some()) {
                    reset(transaction, table)?;
                }
            }
            Ok(())
        })
        .await
    }

    pub(in super::super) async fn reset(&self, table: Table) -> Result<(), DatabaseError> {
        self.transact(move |transaction| Ok(reset(transaction, &table)?))
            .await
    }

    pub(in super::super) async fn remove(&self, table: Table) -> Result<(), DatabaseError> {
        self.transact(move |transaction| Ok(remove(transaction, &table)?))
            .await
    }

    pub(in super::super) async fn swap(&self, table: Table) -> Result<(), DatabaseError> {
        self.transact(move |transaction| Ok(swap(transaction, &table)?))
            .await
    }

    pub(in super::super) async fn kept(&self, table: Table) -> Result<Option<Kept>, DatabaseError> {
        self.with(move |connection| {
            // Before the first process that writes there is nothing.
            connection.execute_batch(tables::CREATE_CHECKPOINTS)?;
            Ok(read_checkpoint(connection, &table)?)
        })
        .await
    }

    pub(in super::super) async fn skip(
        &self,
        model: &'static str,
        position: i64,
    ) -> Result<(), DatabaseError> {
        self.transact(move |transaction| {
            transaction.execute(tables::SKIP, (model, position))?;
            Ok(())
        })
        .await
    }

    pub(in super::super) async fn skipped(
        &self,
        model: &'static str,
    ) -> Result<Vec<i64>, DatabaseError> {
        self.with(move |connection| {
            let mut statement = connection.prepare(tables::SKIPPED)?;
            let positions = statement.query_map([model], |row| row.get(0))?;
            Ok(positions.collect::<Result<_, _>>()?)
        })
        .await
    }

    pub(in super::super) async fn load(
        &self,
        table: Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        self.with(move |connection| {
            let columns = table.model.columns.len();
            let key = tables::quoted(tables::key_column(&table));
            let statement = format!("{} WHERE {key} = ?", tables::select(&table));
            let mut statement = connection.prepare_cached(&statement)?;
            let mut rows = Vec::with_capacity(keys.len());
            for key in keys {
                let row = statement
                    .query_row([Cell::from(key)], |row| read_row(row, columns))
                    .optional()?;
                rows.extend(row);
            }
            Ok(rows)
        })
        .await
    }

    #[cfg(test)]
    pub(in super::super) async fn forget_position(
        &self,
        table: Table,
    ) -> Result<(), DatabaseError> {
        self.with(move |connection| Ok(write_checkpoint(connection, &table, None)?))
            .await
    }

    /// Has the database grow no further than to so many pages.
    #[cfg(test)]
    pub(in super::super) async fn limit(&self, pages: u32) -> Result<(), DatabaseError> {
        self.with(move |connection| Ok(connection.pragma_update(None, "max_page_count", pages)?))
            .await
    }

    pub(in super::super) async fn write(
        &self,
        table: Table,
        changes: Changes,
        checkpoint: Checkpoint,
    ) -> Result<(), DatabaseError> {
        self.transact(move |transaction| {
            give_way(transaction, changes.rows.len() < MANY)?;
            write_rows(transaction, &table, changes)?;
            Ok(write_checkpoint(transaction, &table, Some(checkpoint))?)
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DatabaseError> + Send + 'static,
) -> Result<T, DatabaseError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(DatabaseError::Interrupted))
}

/// What a failure of a database in memory means. Nothing but a commit makes it larger: one that gets no
/// more memory has written some of its pages and not others, so that the process ends, as it does
/// wherever else memory is not to be had.
fn in_memory(error: rusqlite::Error) -> DatabaseError {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(ffi::SQLITE_FULL) => DatabaseError::Full,
        Some(ffi::SQLITE_IOERR_NOMEM) => {
            handle_alloc_error(Layout::new::<[u8; MEMORY_PAGE as usize]>())
        }
        _ => DatabaseError::Write(error),
    }
}

/// Whether what follows lets other threads have the processor now and then. A transaction takes
/// milliseconds, and the system would have whoever carries out commands wait for it, while its work
/// fits into the gaps that flushes leave.
fn give_way(connection: &Connection, gives_way: bool) -> Result<(), rusqlite::Error> {
    let goes_on = || {
        thread::yield_now();
        false
    };
    connection.progress_handler(STEPS, gives_way.then_some(goes_on))
}

fn connect(location: &Location) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match location {
        Location::Memory(name) => {
            freed::keep();
            // The page cache stays small: pages are in memory anyway, and those that were copied last
            // are near the processor. With 32 MiB a row takes half as long again.
            let connection = Connection::open_with_flags_and_vfs(name, flags, "memdb")?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "page_size", MEMORY_PAGE)?;
            // A transaction that fails takes nothing back: it has not changed the database yet, for
            // its pages stay in the cache until it ends well.
            connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA cache_spill = OFF")?;
            connection.pragma_update(None, "max_page_count", MEMORY_LIMIT / MEMORY_PAGE)?;
            Ok(connection)
        }
        Location::File(path) => {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            // What a power cut takes from the end is projected again.
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            Ok(connection)
        }
    }
}
