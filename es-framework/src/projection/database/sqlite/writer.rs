//! The connection that writes, on threads that may block.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::{
    super::{
        super::{
            Cell, RowKey, Table,
            fold::{Changes, StoredRow},
            tables,
        },
        Checkpoint, DatabaseError,
        lease::Lease,
    },
    BUSY_TIMEOUT, Location,
    write::{read_checkpoint, read_row, reset, write_checkpoint, write_rows},
};

/// How many prepared statements are kept: three for each read model and a few besides.
const STATEMENTS: usize = 128;

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
        blocking(move || {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection)
        })
        .await
    }

    /// Creates the tables that are not there yet, and those anew that are declared differently.
    pub(in super::super) async fn prepare(
        &self,
        wanted: Arc<BTreeMap<&'static str, Table>>,
    ) -> Result<(), DatabaseError> {
        self.with(move |connection| {
            let transaction = connection.transaction()?;
            transaction.execute_batch(tables::CREATE_CHECKPOINTS)?;
            for table in wanted.values() {
                let (known, checkpoint) = read_checkpoint(&transaction, table.model.name)?;
                if known.is_none_or(|known| known != tables::definition(table)) {
                    if checkpoint.is_some() {
                        let name = table.model.name;
                        tracing::info!(
                            "the read model {name} is declared differently: it is rebuilt"
                        );
                    }
                    reset(&transaction, table)?;
                }
            }
            Ok(transaction.commit()?)
        })
        .await
    }

    pub(in super::super) async fn reset(&self, table: Table) -> Result<(), DatabaseError> {
        self.with(move |connection| {
            let transaction = connection.transaction()?;
            reset(&transaction, &table)?;
            Ok(transaction.commit()?)
        })
        .await
    }

    pub(in super::super) async fn checkpoint(
        &self,
        table: Table,
    ) -> Result<Option<Checkpoint>, DatabaseError> {
        self.with(move |connection| {
            // Before the first process that writes there is nothing.
            connection.execute_batch(tables::CREATE_CHECKPOINTS)?;
            let (known, checkpoint) = read_checkpoint(connection, table.model.name)?;
            let is_same = known.is_some_and(|known| known == tables::definition(&table));
            Ok(checkpoint.filter(|_| is_same))
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

    pub(in super::super) async fn write(
        &self,
        table: Table,
        changes: Changes,
        checkpoint: Checkpoint,
    ) -> Result<(), DatabaseError> {
        self.with(move |connection| {
            let transaction = connection.transaction()?;
            write_rows(&transaction, &table, changes)?;
            write_checkpoint(&transaction, &table, Some(checkpoint))?;
            Ok(transaction.commit()?)
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

fn connect(location: &Location) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match location {
        Location::Memory(name) => {
            let connection = Connection::open_with_flags_and_vfs(name, flags, "memdb")?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.execute_batch("PRAGMA journal_mode = MEMORY")?;
            Ok(connection)
        }
        Location::File(path) => {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            // What a power cut takes from the end is projected again.
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")?;
            Ok(connection)
        }
    }
}
