//! The row that holds the end of the log. Whoever locks it is the only writer.

use sqlx::{AssertSqlSafe, FromRow as _, PgConnection};

use super::{
    database_error::DatabaseError,
    row::{self, number},
    seen_event::SeenEvent,
};
use es_event::{EventId, Hash};
use es_sql::postgres::ACCEPTS_WRITES;
use es_store::write::ChainHead;

/// Both statements are one message. Each statement of the transaction sees the rows that were committed before it, so that
/// those after the lock see the batch of the writer before.
const BEGIN_AND_LOCK: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT last, hash, time, schemas, \
     (SELECT place || ' is damaged: ' || reason FROM es_damage WHERE NOT accepted LIMIT 1) \
     FROM es_head WHERE id = 1 FOR UPDATE";
const ADD_SCHEMA: &str = "UPDATE es_head SET schemas = schemas + 1 WHERE id = 1";
const CHANGE_NOTHING: &str = "UPDATE es_head SET last = last WHERE id = 1";

/// The locked end of the log.
#[derive(Debug)]
pub(super) struct LogHead {
    pub(super) last: Option<EventId>,
    pub(super) chain: ChainHead,
    /// The number of registered schemas.
    pub(super) schemas: usize,
    /// The damage for which the log is closed.
    damage: Option<String>,
}

impl LogHead {
    /// Refuses to write to a closed log.
    pub(super) fn check_open(&self) -> Result<(), DatabaseError> {
        self.damage
            .clone()
            .map_or(Ok(()), |damage| Err(DatabaseError::Closed(damage)))
    }
}

/// The last event, its hash, its time, the number of schemas and the damage that closes the log.
type HeadRow = (Option<i64>, Vec<u8>, String, i64, Option<String>);

/// Begins a transaction and locks the end of the log until it ends.
pub(super) async fn begin_and_lock(
    connection: &mut PgConnection,
) -> Result<LogHead, DatabaseError> {
    let locked = sqlx::raw_sql(BEGIN_AND_LOCK).fetch_optional(connection);
    let found = locked.await?.ok_or_else(DatabaseError::missing_head)?;
    let (last, hash, time, schemas, damage) = HeadRow::from_row(&found)?;
    let last = last.map(row::to_event_id).transpose()?;
    let time = time.parse();
    Ok(LogHead {
        last,
        chain: ChainHead {
            next: last.map_or(Some(EventId::FIRST), EventId::next),
            predecessor: head_hash(&hash)?,
            time: time.map_err(|error| broken(format!("a broken time: {error}")))?,
        },
        schemas: usize::try_from(schemas).unwrap_or_default(),
        damage,
    })
}

fn broken(flaw: impl std::fmt::Display) -> DatabaseError {
    DatabaseError::damaged_table("es_head", format!("it has {flaw}"))
}

fn head_hash(bytes: &[u8]) -> Result<Hash, DatabaseError> {
    row::hash(bytes).ok_or_else(|| broken("a broken hash"))
}

/// Returns the last event of the log.
///
/// # Errors
/// The server accepts no writes any more, so another one may have newer events.
pub(super) async fn read_last(
    connection: &mut PgConnection,
) -> Result<Option<SeenEvent>, DatabaseError> {
    let statement = format!("SELECT last, hash, {ACCEPTS_WRITES} FROM es_head WHERE id = 1");
    let found: Option<(Option<i64>, Vec<u8>, bool)> = sqlx::query_as(AssertSqlSafe(statement))
        .fetch_optional(connection)
        .await?;
    let (last, hash, is_primary) = found.ok_or_else(DatabaseError::missing_head)?;
    if !is_primary {
        return Err(DatabaseError::Replaced);
    }
    let (last, hash) = (last.map(row::to_event_id).transpose()?, head_hash(&hash)?);
    Ok(last.map(|id| SeenEvent { id, hash }))
}

pub(super) async fn commit(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query("COMMIT").execute(connection).await?;
    Ok(())
}

pub(super) async fn roll_back(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query("ROLLBACK").execute(connection).await?;
    Ok(())
}

/// Counts one more schema, so that other instances load it before their next batch.
pub(super) async fn add_schema(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query(ADD_SCHEMA).execute(connection).await?;
    Ok(())
}

/// Writes the head row unchanged and commits. When it is durable, everything that was
/// committed before is durable, too.
pub(super) async fn commit_unchanged_head(
    connection: &mut PgConnection,
) -> Result<(), DatabaseError> {
    sqlx::query(CHANGE_NOTHING)
        .execute(&mut *connection)
        .await?;
    commit(connection).await
}

/// Returns true if the log holds an event with this id and hash.
pub(super) async fn holds_event(
    connection: &mut PgConnection,
    SeenEvent { id, hash }: SeenEvent,
) -> Result<bool, DatabaseError> {
    let found: Option<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM es_events WHERE id = $1")
        .bind(number(id.get()))
        .fetch_optional(connection)
        .await?;
    Ok(found.is_some_and(|found| row::hash(&found) == Some(hash)))
}
