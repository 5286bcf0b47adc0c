//! The upgrade of tables of version 1: it verifies the chain, and adds the checksums. It goes on where an
//! interrupted one has stopped, and several instances that start at once share the work.

use futures_util::TryStreamExt as _;
use sqlx::PgConnection;
use tokio::time::timeout;

use super::{
    database_error::{DatabaseError, PostgresOpenError},
    log_head::{self, LogHead},
    row::{self, hash, number},
    store_limits::StoreLimits,
    store_version::{self, CREATE_SUBJECTS, VERSION},
};
use es_event::{EventId, EventType, Hash, RecordedEvent};
use es_sql::postgres::{Remedy, RetrySchedule};
use es_store::{
    Chain, ChainFlaw,
    event_row::{EventColumns, StoredRowDecoder, compute_schema_checksum},
};

/// The most events and bytes of one transaction.
const BATCH: usize = 2_000;
const BATCH_BYTES: usize = 8 << 20;

const TABLES: [&str; 4] = [
    "ALTER TABLE es_events ADD COLUMN IF NOT EXISTS checksum BIGINT",
    "ALTER TABLE es_event_types ADD COLUMN IF NOT EXISTS schema_checksum BIGINT",
    CREATE_SUBJECTS,
    // The version of this row is the number of upgraded events.
    "INSERT INTO es_store_version (id, version) VALUES (3, 0) ON CONFLICT (id) DO NOTHING",
];
const READ_PROGRESS: &str = "SELECT version FROM es_store_version WHERE id = 3";
const SET_PROGRESS: &str = "UPDATE es_store_version SET version = $1 WHERE id = 3";

const EVENTS: &str = "SELECT e.id, e.subject, e.type, e.source, e.time, e.traceparent, e.tracestate, \
     e.predecessor_hash, e.hash, e.data FROM es_events e WHERE e.id >= $1 ORDER BY e.id LIMIT $2";
const SET_CHECKSUMS: &str = "WITH \
     checked AS (UPDATE es_events e SET checksum = new.checksum \
         FROM UNNEST($1::bigint[], $2::bigint[]) AS new (id, checksum) WHERE e.id = new.id) \
     INSERT INTO es_subjects (subject, last) \
         SELECT wanted.key, max(wanted.id) FROM UNNEST($3::text[], $1::bigint[]) AS wanted (key, id) \
         GROUP BY wanted.key ON CONFLICT (subject) DO UPDATE SET last = excluded.last";

const SCHEMAS: &str = "SELECT type, schema FROM es_event_types WHERE schema IS NOT NULL";
const SET_SCHEMA_CHECKSUM: &str = "UPDATE es_event_types SET schema_checksum = $2 WHERE type = $1";
/// Refuses the rows of an instance of an earlier version, without a scan of the table.
const DEMAND_CHECKSUMS: &str = "ALTER TABLE es_events ADD CONSTRAINT es_events_checksum \
     CHECK (checksum IS NOT NULL) NOT VALID";

/// Brings tables of version 1 to version 2.
pub(super) async fn upgrade_rows(
    connection: &mut PgConnection,
    limits: &StoreLimits,
) -> Result<(), DatabaseError> {
    tracing::info!(
        "the tables of the event store get checksums, which takes a minute for a million events"
    );
    for statement in TABLES {
        repeat(connection, limits, async |connection| {
            sqlx::query(statement).execute(connection).await?;
            Ok(())
        })
        .await?;
    }
    while let Some(done) = repeat(connection, limits, upgrade_batch).await? {
        tracing::info!("{done} events have checksums");
    }
    Ok(())
}

/// Runs a transaction, and repeats it if it waits too long for a lock.
async fn repeat<T>(
    connection: &mut PgConnection,
    limits: &StoreLimits,
    mut transaction: impl AsyncFnMut(&mut PgConnection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    let mut schedule = RetrySchedule::new(limits.retry_time);
    loop {
        let attempt = timeout(limits.write_time, transaction(connection)).await;
        match attempt.unwrap_or(Err(DatabaseError::Timeout)) {
            Err(error) if error.remedy() == Remedy::Repeat => {
                log_head::roll_back(connection).await?;
                if !schedule.wait(error.remedy()).await {
                    return Err(error);
                }
            }
            result => return result,
        }
    }
}

/// Upgrades the next events. Returns the number of upgraded events, or `None` at the end.
async fn upgrade_batch(connection: &mut PgConnection) -> Result<Option<u64>, DatabaseError> {
    let head = log_head::begin_and_lock(connection).await?;
    if store_version::read_version(connection).await? >= VERSION {
        log_head::roll_back(connection).await?;
        return Ok(None);
    }
    let done: i64 = sqlx::query_scalar(READ_PROGRESS)
        .fetch_one(&mut *connection)
        .await?;
    let done = u64::try_from(done).unwrap_or_default();
    let predecessor = read_hash(connection, done).await?;
    if done >= EventId::count_to(head.last) {
        finish(connection, &head, predecessor).await?;
        return Ok(None);
    }
    let mut chain = Chain::at(done, predecessor);
    let events = read_events(connection, &mut chain).await?;
    if events.is_empty() {
        return Err(damaged(ChainFlaw {
            event: done,
            reason: "it is missing".into(),
        }));
    }
    set_checksums(connection, &events).await?;
    sqlx::query(SET_PROGRESS)
        .bind(number(chain.events()))
        .execute(&mut *connection)
        .await?;
    log_head::commit(connection).await?;
    Ok(Some(chain.events()))
}

fn damaged(ChainFlaw { event, reason }: ChainFlaw) -> DatabaseError {
    PostgresOpenError::Damaged { event, reason }.into()
}

/// Returns the hash of the event before one.
async fn read_hash(connection: &mut PgConnection, before: u64) -> Result<Hash, DatabaseError> {
    let Some(id) = before.checked_sub(1) else {
        return Ok(Hash::ZERO);
    };
    let found: Option<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM es_events WHERE id = $1")
        .bind(number(id))
        .fetch_optional(connection)
        .await?;
    found.as_deref().and_then(hash).ok_or_else(|| {
        damaged(ChainFlaw {
            event: id,
            reason: "it is missing or has no hash".into(),
        })
    })
}

/// Reads and verifies the next events of the chain.
async fn read_events(
    connection: &mut PgConnection,
    chain: &mut Chain,
) -> Result<Vec<RecordedEvent>, DatabaseError> {
    let query = sqlx::query(EVENTS)
        .bind(number(chain.events()))
        .bind(number(BATCH));
    let mut rows = query.fetch(connection);
    let mut decoder = StoredRowDecoder::default();
    let (mut events, mut bytes) = (Vec::new(), 0_usize);
    while let Some(row) = rows.try_next().await? {
        let event = decoder.decode_row(&row::read_columns(&row)?)?;
        chain.verify_next(&event).map_err(damaged)?;
        bytes = bytes.saturating_add(event.data.get().len());
        events.push(event);
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    Ok(events)
}

async fn set_checksums(
    connection: &mut PgConnection,
    events: &[RecordedEvent],
) -> Result<(), DatabaseError> {
    let (mut ids, mut checksums, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    for event in events {
        let columns = EventColumns::from(event);
        ids.push(columns.id);
        checksums.push(columns.checksum());
        subjects.push(columns.subject);
    }
    sqlx::query(SET_CHECKSUMS)
        .bind(ids)
        .bind(checksums)
        .bind(subjects)
        .execute(connection)
        .await?;
    Ok(())
}

/// Ends the upgrade. The chain must end where the head says.
async fn finish(
    connection: &mut PgConnection,
    head: &LogHead,
    last: Hash,
) -> Result<(), DatabaseError> {
    if head.chain.predecessor != last {
        return Err(damaged(ChainFlaw {
            event: EventId::count_to(head.last).saturating_sub(1),
            reason: "it is not the one that ends the log".into(),
        }));
    }
    let schemas: Vec<(String, String)> =
        sqlx::query_as(SCHEMAS).fetch_all(&mut *connection).await?;
    for (name, schema) in schemas {
        let event_type: EventType = name.parse().map_err(|error| {
            let flaw = format!("the event type {name:?} is broken: {error}");
            DatabaseError::damaged_table("es_event_types", flaw)
        })?;
        sqlx::query(SET_SCHEMA_CHECKSUM)
            .bind(&name)
            .bind(compute_schema_checksum(&event_type, &schema))
            .execute(&mut *connection)
            .await?;
    }
    sqlx::query(DEMAND_CHECKSUMS)
        .execute(&mut *connection)
        .await?;
    store_version::set_version(connection, VERSION).await?;
    log_head::commit(connection).await
}
