//! SQLite, in memory or in a file: rusqlite writes, since it is several times as fast as a pool, and
//! a pool of sqlx reads.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params_from_iter, types};
use sqlx::{
    AssertSqlSafe, Row as _, Sqlite, SqlitePool,
    query::Query,
    sqlite::{SqliteArguments, SqliteConnectOptions, SqlitePoolOptions, SqliteRow},
};

use super::{
    super::{Cell, Column, ColumnKind, RowKey, Table, tables},
    Changes, Checkpoint, DatabaseError, StoredRow,
    lease::Lease,
    rows,
};
use crate::event::EventId;

/// How long a query waits for its turn.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a statement waits for a transaction of another connection to end.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How many queries are answered at once.
const READERS: u32 = 4;
/// How many prepared statements the writer keeps: three for each read model and a few besides.
const STATEMENTS: usize = 128;

/// Where the database is.
#[derive(Debug, Clone)]
pub(super) enum Location {
    /// In memory, under a name that connections of this process share.
    Memory(String),
    /// In a file.
    File(PathBuf),
}

impl Location {
    /// A database of its own.
    pub(super) fn in_memory() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self::Memory(format!("/read-models-{number}"))
    }
}

/// SQLite, in memory or in a file.
#[derive(Debug, Clone)]
pub(super) struct SqliteDatabase {
    reader: SqlitePool,
    pub(super) writer: Writer,
}

impl SqliteDatabase {
    pub(super) async fn open(location: Location) -> Result<Self, DatabaseError> {
        // The writer makes the database that the others find.
        let writer = Writer::open(&location).await?;
        let reader = reader(&location).await?;
        Ok(Self { reader, writer })
    }

    pub(super) async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        let bytes: i64 = sqlx::query_scalar(size).fetch_one(&self.reader).await?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    pub(super) async fn fetch(
        &self,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let rows = query.fetch_all(&self.reader).await?;
        rows.iter()
            .map(|row| stored_row(table.model.columns, row))
            .collect()
    }

    pub(super) async fn count(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let count: i64 = query.fetch_one(&self.reader).await?.try_get(0)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    pub(super) async fn texts(
        &self,
        statement: &'static str,
        parameters: Vec<Cell>,
    ) -> Result<Vec<String>, DatabaseError> {
        let query = parameters.into_iter().fold(sqlx::query(statement), bind);
        let rows = query.fetch_all(&self.reader).await?;
        let texts = rows.iter().map(|row| row.try_get(0));
        Ok(texts.collect::<Result<_, sqlx::Error>>()?)
    }
}

/// The pool that queries read through.
async fn reader(location: &Location) -> Result<SqlitePool, DatabaseError> {
    let options = SqliteConnectOptions::new().busy_timeout(BUSY_TIMEOUT);
    let options = match location {
        Location::Memory(name) => options.filename(name).vfs("memdb"),
        Location::File(path) => options.filename(path),
    };
    let pool = SqlitePoolOptions::new()
        .min_connections(1)
        .max_connections(READERS)
        .test_before_acquire(false)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options.pragma("query_only", "ON"))
        .await?;
    Ok(pool)
}

fn bind(
    query: Query<'_, Sqlite, SqliteArguments>,
    cell: Cell,
) -> Query<'_, Sqlite, SqliteArguments> {
    match cell {
        Cell::Null => query.bind(None::<i64>),
        Cell::Text(text) => query.bind(text),
        Cell::Integer(number) => query.bind(number),
        Cell::Real(number) => query.bind(number),
        Cell::Boolean(truth) => query.bind(truth),
    }
}

fn stored_row(columns: &[Column], row: &SqliteRow) -> Result<StoredRow, DatabaseError> {
    let cell = |(index, column): (usize, &Column)| {
        Ok(match column.kind {
            ColumnKind::Text | ColumnKind::Timestamp | ColumnKind::Json => row
                .try_get::<Option<String>, _>(index)?
                .map_or(Cell::Null, Cell::Text),
            ColumnKind::Integer | ColumnKind::Boolean => row
                .try_get::<Option<i64>, _>(index)?
                .map_or(Cell::Null, Cell::Integer),
            ColumnKind::Real => row
                .try_get::<Option<f64>, _>(index)?
                .map_or(Cell::Null, Cell::Real),
        })
    };
    // The place comes first.
    let cells = (1..).zip(columns).map(cell);
    let cells = cells.collect::<Result<_, sqlx::Error>>()?;
    Ok(StoredRow {
        place: row.try_get(0)?,
        subject: None,
        cells,
    })
}

/// The one connection that writes. Its work is done on threads that may block.
#[derive(Debug, Clone)]
pub(super) struct Writer {
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
    pub(super) async fn take_lease(&self) -> Result<bool, DatabaseError> {
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
    pub(super) async fn prepare(
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

    pub(super) async fn reset(&self, table: Table) -> Result<(), DatabaseError> {
        self.with(move |connection| {
            let transaction = connection.transaction()?;
            reset(&transaction, &table)?;
            Ok(transaction.commit()?)
        })
        .await
    }

    pub(super) async fn checkpoint(
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

    pub(super) async fn load(
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
    pub(super) async fn forget_position(&self, table: Table) -> Result<(), DatabaseError> {
        self.with(move |connection| Ok(write_checkpoint(connection, &table, None)?))
            .await
    }

    pub(super) async fn write(
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

fn write_rows(
    connection: &Connection,
    table: &Table,
    changes: Changes,
) -> Result<(), rusqlite::Error> {
    if !changes.removed.is_empty() {
        let mut delete = connection.prepare_cached(&tables::delete(table))?;
        for key in changes.removed {
            delete.execute([Cell::from(key)])?;
        }
    }
    let mut upsert = connection.prepare_cached(&tables::upsert(table))?;
    for row in changes.rows {
        upsert.execute(params_from_iter(rows::written(table, row)))?;
    }
    Ok(())
}

/// Makes a table anew.
fn reset(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    connection.execute_batch(&tables::drop(table))?;
    for statement in tables::create(table) {
        connection.execute_batch(&statement)?;
    }
    write_checkpoint(connection, table, None)
}

type Known = (Option<String>, Option<Checkpoint>);

/// The definition of a table and how far it has come.
fn read_checkpoint(connection: &Connection, model: &str) -> Result<Known, rusqlite::Error> {
    let row = connection
        .prepare_cached(tables::READ_CHECKPOINT)?
        .query_row([model], |row| {
            let position: Option<i64> = row.get(1)?;
            let hash: Option<String> = row.get(2)?;
            Ok((row.get::<_, String>(0)?, position, hash))
        })
        .optional()?;
    let Some((definition, position, hash)) = row else {
        return Ok((None, None));
    };
    let id = position
        .and_then(|position| u64::try_from(position).ok())
        .and_then(EventId::new);
    let hash = hash.and_then(|hash| hash.parse().ok());
    let checkpoint = id.zip(hash).map(|(id, hash)| Checkpoint { id, hash });
    Ok((Some(definition), checkpoint))
}

fn write_checkpoint(
    connection: &Connection,
    table: &Table,
    checkpoint: Option<Checkpoint>,
) -> Result<(), rusqlite::Error> {
    let position = checkpoint.map(|last| i64::try_from(last.id.get()).unwrap_or(i64::MAX));
    let hash = checkpoint.map(|last| last.hash.to_string());
    connection
        .prepare_cached(tables::WRITE_CHECKPOINT)?
        .execute((table.model.name, tables::definition(table), position, hash))?;
    Ok(())
}

fn read_row(row: &rusqlite::Row<'_>, columns: usize) -> Result<StoredRow, rusqlite::Error> {
    let cells = (1..=columns)
        .map(|index| {
            Ok(match row.get_ref(index)? {
                types::ValueRef::Integer(number) => Cell::Integer(number),
                types::ValueRef::Real(number) => Cell::Real(number),
                types::ValueRef::Text(text) => {
                    Cell::Text(String::from_utf8_lossy(text).into_owned())
                }
                types::ValueRef::Null | types::ValueRef::Blob(_) => Cell::Null,
            })
        })
        .collect::<Result<_, rusqlite::Error>>()?;
    Ok(StoredRow {
        place: row.get(0)?,
        subject: None,
        cells,
    })
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> Result<types::ToSqlOutput<'_>, rusqlite::Error> {
        Ok(match self {
            Self::Null => types::Null.into(),
            Self::Text(text) => text.as_str().into(),
            Self::Integer(number) => (*number).into(),
            Self::Real(number) => (*number).into(),
            Self::Boolean(truth) => (*truth).into(),
        })
    }
}
