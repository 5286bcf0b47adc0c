//! SQLite, in memory or in a file: rusqlite writes, since it is several times as fast as a pool, and
//! a pool of sqlx reads.

mod freed;
mod search_index;
mod write;
mod writer;

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use sqlx::{
    AssertSqlSafe, Row as _, Sqlite, SqlitePool,
    pool::PoolConnection,
    query::Query,
    sqlite::{SqliteArguments, SqliteConnectOptions, SqlitePoolOptions, SqliteRow},
};

use super::{
    super::{Cell, Column, ColumnKind, Table, fold::StoredRow},
    DatabaseError,
};

use writer::Writer;

/// How long a query waits for its turn.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a statement waits for a transaction of another connection to end.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How many queries are answered at once.
const READERS: u32 = 4;
/// After so many steps of its machine SQLite is asked to look at the clock: a fraction of a
/// millisecond.
const OPERATIONS: i32 = 10_000;
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
    readers: SqlitePool,
    query_time: Duration,
    pub(super) writer: Writer,
}

impl SqliteDatabase {
    pub(super) async fn open(
        location: Location,
        query_time: Duration,
    ) -> Result<Self, DatabaseError> {
        // The writer makes the database that the others find.
        let writer = Writer::open(&location).await?;
        let readers = reader(&location).await?;
        Ok(Self {
            readers,
            query_time,
            writer,
        })
    }

    /// A connection on which the next statement is ended when its time is over, even if nobody waits
    /// for it any more.
    async fn reading(&self) -> Result<PoolConnection<Sqlite>, DatabaseError> {
        let mut connection = self.readers.acquire().await?;
        let begin = Instant::now();
        let time = self.query_time;
        connection
            .lock_handle()
            .await?
            .set_progress_handler(OPERATIONS, move || begin.elapsed() < time);
        Ok(connection)
    }

    pub(super) async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        let bytes: i64 = sqlx::query_scalar(size)
            .fetch_one(&mut *self.reading().await?)
            .await?;
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
        let rows = query.fetch_all(&mut *self.reading().await?).await?;
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
        let count: i64 = query
            .fetch_one(&mut *self.reading().await?)
            .await?
            .try_get(0)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    pub(super) async fn texts(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<String>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = parameters.into_iter().fold(query, bind);
        let rows = query.fetch_all(&mut *self.reading().await?).await?;
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
