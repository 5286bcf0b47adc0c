//! PostgreSQL: one connection writes whole batches with a statement or two and holds the lock that
//! says who projects; a pool reads.

use std::{sync::Arc, time::Duration};

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool, Postgres, Row as _,
    postgres::{PgArguments, PgConnectOptions, PgPoolOptions, PgRow},
    query::Query,
};
use tokio::sync::Mutex;

use super::{
    super::{Cell, Column, ColumnKind, RowKey, Table, tables},
    Changes, Checkpoint, DatabaseError, StoredRow,
    rows::{self, Written},
};
use crate::event::EventId;

/// How long a query waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How many queries are answered at once.
const READERS: u32 = 8;
/// The lock of those who project. The number has no meaning beyond being ours.
const LOCK: i64 = 0x6573_5f72_6561_6473;

const CREATE_CHECKPOINTS: &str = "CREATE TABLE IF NOT EXISTS es_checkpoint \
     (model TEXT PRIMARY KEY, definition TEXT NOT NULL, position BIGINT, hash TEXT)";
const READ_CHECKPOINT: &str =
    "SELECT definition, position, hash FROM es_checkpoint WHERE model = $1";
const WRITE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (model, definition, position, hash) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (model) DO UPDATE SET \
     definition = excluded.definition, position = excluded.position, hash = excluded.hash";

/// A database on a server.
#[derive(Debug, Clone)]
pub(super) struct PostgresDatabase {
    options: Arc<PgConnectOptions>,
    reader: PgPool,
    writer: Arc<Mutex<Option<PgConnection>>>,
}

impl PostgresDatabase {
    pub(super) async fn open(url: &str) -> Result<Self, DatabaseError> {
        let options: PgConnectOptions = url.parse()?;
        let reader = PgPoolOptions::new()
            .max_connections(READERS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(
                options
                    .clone()
                    .options([("default_transaction_read_only", "on")]),
            )
            .await?;
        Ok(Self {
            options: Arc::new(options),
            reader,
            writer: Arc::default(),
        })
    }

    pub(super) async fn size(&self) -> Result<u64, DatabaseError> {
        let size = "SELECT pg_database_size(current_database())";
        let bytes: i64 = sqlx::query_scalar(size).fetch_one(&self.reader).await?;
        Ok(u64::try_from(bytes).unwrap_or_default())
    }

    /// Takes the right to write, unless another process has it. The server gives it back when the
    /// connection ends.
    pub(super) async fn take_lease(&self) -> Result<bool, DatabaseError> {
        let mut writer = self.writer.lock().await;
        if let Some(connection) = writer.as_mut()
            && connection.ping().await.is_ok()
        {
            return Ok(true);
        }
        *writer = None;
        let mut connection = PgConnection::connect_with(&self.options).await?;
        let is_taken: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
            .bind(LOCK)
            .fetch_one(&mut connection)
            .await?;
        if is_taken {
            *writer = Some(connection);
        }
        Ok(is_taken)
    }

    pub(super) async fn prepare<'a>(
        &self,
        wanted: impl IntoIterator<Item = &'a Table>,
    ) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        sqlx::query(CREATE_CHECKPOINTS)
            .execute(&mut *connection)
            .await?;
        for table in wanted {
            let (known, checkpoint) = read_checkpoint(connection, table).await?;
            if known.is_none_or(|known| known != tables::definition(table)) {
                if checkpoint.is_some() {
                    let name = table.model.name;
                    tracing::info!("the read model {name} is declared differently: it is rebuilt");
                }
                reset(connection, table).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn reset(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        reset(connection, table).await
    }

    pub(super) async fn checkpoint(
        &self,
        table: &Table,
    ) -> Result<Option<Checkpoint>, DatabaseError> {
        let mut connection = self.reader.acquire().await?;
        let (known, checkpoint) = match read_checkpoint(&mut connection, table).await {
            // Before the first process that writes there is no table.
            Err(DatabaseError::Read(sqlx::Error::Database(error)))
                if error.code().as_deref() == Some("42P01") =>
            {
                return Ok(None);
            }
            read => read?,
        };
        let is_same = known.is_some_and(|known| known == tables::definition(table));
        Ok(checkpoint.filter(|_| is_same))
    }

    pub(super) async fn load(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let key = tables::quoted(tables::key_column(table));
        let statement = format!("{} WHERE {key} = ANY($1)", tables::select(table));
        let query = bind_keys(sqlx::query(AssertSqlSafe(statement)), keys);
        let rows = query.fetch_all(connection).await?;
        rows.iter()
            .map(|row| stored_row(table.model.columns, row))
            .collect()
    }

    pub(super) async fn write(
        &self,
        table: &Table,
        changes: Changes,
        checkpoint: Checkpoint,
    ) -> Result<(), DatabaseError> {
        let mut writer = self.writer.lock().await;
        let connection = writer.as_mut().ok_or(DatabaseError::Lost)?;
        let written = write(connection, table, changes, checkpoint).await;
        if matches!(&written, Err(error) if !error.is_refusal()) {
            // With the connection the lock may be gone, and somebody else may write.
            *writer = None;
        }
        written
    }

    pub(super) async fn fetch(
        &self,
        table: &Table,
        statement: &str,
        parameters: Vec<Cell>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(numbered(statement)));
        let rows = parameters.into_iter().fold(query, bind);
        let rows = rows.fetch_all(&self.reader).await?;
        rows.iter()
            .map(|row| stored_row(table.model.columns, row))
            .collect()
    }

    pub(super) async fn count(
        &self,
        statement: &str,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        let query = sqlx::query(AssertSqlSafe(numbered(statement)));
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

async fn reset(connection: &mut PgConnection, table: &Table) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    let statements = [tables::drop(table)]
        .into_iter()
        .chain(tables::create_on_postgres(table));
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement))
            .execute(&mut *transaction)
            .await?;
    }
    write_checkpoint(&mut transaction, table, None).await?;
    Ok(transaction.commit().await?)
}

async fn write(
    connection: &mut PgConnection,
    table: &Table,
    changes: Changes,
    checkpoint: Checkpoint,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    if !changes.removed.is_empty() {
        let key = tables::quoted(tables::key_column(table));
        let name = tables::quoted(table.model.name);
        let statement = format!("DELETE FROM {name} WHERE {key} = ANY($1)");
        let query = bind_keys(sqlx::query(AssertSqlSafe(statement)), changes.removed);
        query.execute(&mut *transaction).await?;
    }
    if !changes.rows.is_empty() {
        let columns = rows::written_columns(table);
        let mut cells: Vec<Vec<Cell>> = columns.iter().map(|_| Vec::new()).collect();
        for row in changes.rows {
            for (column, cell) in cells.iter_mut().zip(rows::written(table, row)) {
                column.push(cell);
            }
        }
        let query = sqlx::query(AssertSqlSafe(tables::upsert_on_postgres(table)));
        let query = columns.iter().zip(cells).fold(query, bind_column);
        query.execute(&mut *transaction).await?;
    }
    write_checkpoint(&mut transaction, table, Some(checkpoint)).await?;
    Ok(transaction.commit().await?)
}

async fn read_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(Option<String>, Option<Checkpoint>), DatabaseError> {
    let row = sqlx::query(READ_CHECKPOINT)
        .bind(table.model.name)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok((None, None));
    };
    let id = row
        .try_get::<Option<i64>, _>(1)?
        .and_then(|position| u64::try_from(position).ok())
        .and_then(EventId::new);
    let hash = row.try_get::<Option<String>, _>(2)?;
    let hash = hash.and_then(|hash| hash.parse().ok());
    let checkpoint = id.zip(hash).map(|(id, hash)| Checkpoint { id, hash });
    Ok((Some(row.try_get(0)?), checkpoint))
}

async fn write_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
    checkpoint: Option<Checkpoint>,
) -> Result<(), DatabaseError> {
    let position = checkpoint.map(|last| i64::try_from(last.id.get()).unwrap_or(i64::MAX));
    sqlx::query(WRITE_CHECKPOINT)
        .bind(table.model.name)
        .bind(tables::definition(table))
        .bind(position)
        .bind(checkpoint.map(|last| last.hash.to_string()))
        .execute(connection)
        .await?;
    Ok(())
}

type PgQuery<'q> = Query<'q, Postgres, PgArguments>;

fn bind(query: PgQuery<'_>, cell: Cell) -> PgQuery<'_> {
    match cell {
        Cell::Null => query.bind(None::<String>),
        Cell::Text(text) => query.bind(text),
        Cell::Integer(number) => query.bind(number),
        Cell::Real(number) => query.bind(number),
        Cell::Boolean(truth) => query.bind(truth),
    }
}

fn bind_keys(query: PgQuery<'_>, keys: Vec<RowKey>) -> PgQuery<'_> {
    let mut texts = Vec::new();
    let mut numbers = Vec::new();
    for key in keys {
        match key {
            RowKey::Text(text) => texts.push(text),
            RowKey::Integer(number) => numbers.push(number),
        }
    }
    // All keys of a table are of one kind.
    if numbers.is_empty() {
        query.bind(texts)
    } else {
        query.bind(numbers)
    }
}

/// Binds a column of many rows as one array.
fn bind_column<'q>(query: PgQuery<'q>, (column, cells): (&Written, Vec<Cell>)) -> PgQuery<'q> {
    let cells = cells.into_iter();
    match column.kind {
        ColumnKind::Text | ColumnKind::Timestamp | ColumnKind::Json => {
            let texts = cells.map(|cell| match cell {
                Cell::Text(text) => Some(text),
                _ => None,
            });
            query.bind(texts.collect::<Vec<_>>())
        }
        ColumnKind::Integer => {
            let numbers = cells.map(|cell| match cell {
                Cell::Integer(number) => Some(number),
                _ => None,
            });
            query.bind(numbers.collect::<Vec<_>>())
        }
        ColumnKind::Real => {
            let numbers = cells.map(|cell| match cell {
                Cell::Real(number) => Some(number),
                _ => None,
            });
            query.bind(numbers.collect::<Vec<_>>())
        }
        ColumnKind::Boolean => {
            let truths = cells.map(|cell| match cell {
                Cell::Boolean(truth) => Some(truth),
                _ => None,
            });
            query.bind(truths.collect::<Vec<_>>())
        }
    }
}

fn stored_row(columns: &[Column], row: &PgRow) -> Result<StoredRow, DatabaseError> {
    let cell = |(index, column): (usize, &Column)| {
        Ok(match column.kind {
            ColumnKind::Text | ColumnKind::Timestamp | ColumnKind::Json => row
                .try_get::<Option<String>, _>(index)?
                .map_or(Cell::Null, Cell::Text),
            ColumnKind::Integer => row
                .try_get::<Option<i64>, _>(index)?
                .map_or(Cell::Null, Cell::Integer),
            ColumnKind::Boolean => row
                .try_get::<Option<bool>, _>(index)?
                .map_or(Cell::Null, Cell::Boolean),
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

/// The statement with `$1`, `$2` and so on in the places of its `?`. Statements made by the
/// framework have no other question marks.
fn numbered(statement: &str) -> String {
    let mut numbered = String::with_capacity(statement.len());
    for (index, part) in statement.split('?').enumerate() {
        if index > 0 {
            numbered.push_str(&format!("${index}"));
        }
        numbered.push_str(part);
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(
            numbered("a = ? AND b IN (?, ?)"),
            "a = $1 AND b IN ($2, $3)"
        );
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
    }
}
