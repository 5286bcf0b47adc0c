//! The state that is read when the database is opened: the end of the hash chain, the entries of
//! the index that are not on disk, the event types and the schemas.

use std::{fmt, sync::Arc};

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    database_error::SqliteError,
    index::{CompactionProgress, EventKeys, PostingIndex},
    row::{self, RowDecoder, select},
    store_settings::EngineSettings,
};
use es_event::{EventType, Hash};
use es_store::{
    EventSchema,
    catalogue::EventTypeCatalogue,
    event_row::{compute_schema_checksum, parse_hash},
    write::ChainHead,
};

/// Loads the end of the chain and the index. This takes a few milliseconds for any number of events,
/// except for the first start with a file of an older format, which is indexed then.
pub(super) fn load_log(
    connection: &Connection,
    settings: &EngineSettings,
) -> Result<(ChainHead, PostingIndex), SqliteError> {
    let head = load_head(connection)?;
    let length = head.next.map_or(u64::MAX, |next| next.get());
    loop {
        // A verification reports an index of more events than there are.
        let covered = load_coverage(connection)?.min(length);
        let mut index = PostingIndex::with_covered_events(covered);
        // Twice the usual: the memtable of an unfinished compaction is loaded, too.
        let limit = settings.memtable_entries.saturating_mul(2);
        fill_memtable(connection, &mut index, limit)?;
        if index.len() == length {
            return Ok((head, index));
        }
        // Many events that are not indexed yet: they are indexed in parts, so that memory stays
        // bounded. A crash in between loses no more than the current part.
        compact_at_once(connection, &mut index)?;
        tracing::info!("indexed {} of {length} stored events", index.covered());
    }
}

/// Loads the number of events that the index on disk covers.
fn load_coverage(connection: &Connection) -> Result<u64, SqliteError> {
    let covered: i64 =
        connection.query_row("SELECT indexed FROM index_state", [], |row| row.get(0))?;
    let flaw = "it has a negative number of events";
    u64::try_from(covered).map_err(|_| SqliteError::damaged_table("index_state", flaw))
}

/// Checks that the index on disk covers no more events than there are.
pub(super) fn check_coverage(connection: &Connection, length: u64) -> Result<(), SqliteError> {
    let covered = load_coverage(connection)?;
    if covered <= length {
        return Ok(());
    }
    let flaw = format!("it has {covered} events, but the log has {length}");
    Err(SqliteError::damaged_table("event_index", flaw))
}

/// Loads the event types of events and of schemas, and the schemas.
pub(super) fn load_catalogue(connection: &Connection) -> Result<EventTypeCatalogue, SqliteError> {
    check_structure(connection, "event_types")?;
    check_structure(connection, "event_schemas")?;
    let mut catalogue = EventTypeCatalogue::default();
    let mut statement = connection.prepare("SELECT type, first_event FROM event_types")?;
    let mut first_event = connection.prepare(select!("WHERE id = ?1"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (event_type, id) = (event_type(row)?, row.get(1)?);
        let first =
            first_event.query_row([id], |row| Ok(RowDecoder::default().check_and_decode(row)));
        // A read reports an event that is damaged or missing.
        if let Some(Ok(first)) = first.optional()?
            && first.event_type != event_type
        {
            let flaw = format!("is not of the type {event_type}, which lists it");
            return Err(SqliteError::flawed_event(id, flaw));
        }
        catalogue.record_event(&event_type, row::to_event_id(id)?);
    }
    let mut statement = connection.prepare("SELECT type, schema, checksum FROM event_schemas")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let event_type = event_type(row)?;
        let broken = |error: &dyn fmt::Display| {
            let flaw = format!("the schema of {event_type} is broken: {error}");
            SqliteError::damaged_table("event_schemas", flaw)
        };
        let text = row.get_ref(1)?.as_str().map_err(|error| broken(&error))?;
        let stored: Option<i64> = row.get(2)?;
        if stored.is_some_and(|stored| stored != compute_schema_checksum(&event_type, text)) {
            return Err(broken(&"its checksum differs"));
        }
        let schema = EventSchema::parse_stored(text).map_err(|error| broken(&error))?;
        let registered = catalogue.register_schema(event_type.clone(), Arc::new(schema));
        registered.map_err(|error| broken(&error))?;
    }
    Ok(catalogue)
}

/// Checks that a table is not damaged, so that a read misses no row. That reads the whole table, so it is only for small ones.
fn check_structure(connection: &Connection, table: &str) -> Result<(), SqliteError> {
    let statement = format!("PRAGMA quick_check({table})");
    let found: String = connection.query_row(&statement, [], |row| row.get(0))?;
    match found.as_str() {
        "ok" => Ok(()),
        found => Err(SqliteError::damaged_table(table, found)),
    }
}

fn event_type(row: &Row<'_>) -> Result<EventType, SqliteError> {
    let text: String = row.get(0)?;
    let parsed = text.parse();
    parsed.map_err(|_| {
        let flaw = format!("it lists the broken event type {text:?}");
        SqliteError::damaged_table("event_types", flaw)
    })
}

/// Loads the end of the chain. A verification compares the last event with its checksum and its hash.
pub(super) fn load_head(connection: &Connection) -> Result<ChainHead, SqliteError> {
    let last = connection
        .prepare("SELECT id, hash, time FROM events ORDER BY id DESC LIMIT 1")?
        .query_row([], |row| {
            Ok((
                row.get(0)?,
                row.get::<_, Vec<u8>>(1)?,
                row.get::<_, String>(2)?,
            ))
        })
        .optional()?;
    let Some((id, hash, time)) = last else {
        return Ok(ChainHead::EMPTY);
    };
    let broken = |column| SqliteError::flawed_event(id, format!("has a broken {column}"));
    Ok(ChainHead {
        next: row::to_event_id(id)?.next(),
        predecessor: parse_hash(&hash).ok_or_else(|| broken("hash"))?,
        time: time.parse().map_err(|_| broken("time"))?,
    })
}

/// Returns true if an event has this hash.
pub(super) fn holds_event(connection: &Connection, id: i64, hash: Hash) -> bool {
    let statement = "SELECT hash FROM events WHERE id = ?1";
    let found = connection.query_row(statement, [id], |row| row.get::<_, Vec<u8>>(0));
    found.is_ok_and(|found| parse_hash(&found) == Some(hash))
}

/// Inserts events after those that the index has, until about `limit` entries are in memory.
fn fill_memtable(
    connection: &Connection,
    index: &mut PostingIndex,
    limit: usize,
) -> Result<(), SqliteError> {
    let mut statement = connection.prepare(select!("WHERE id >= ?1 ORDER BY id"))?;
    let mut rows = statement.query([row::number(index.covered())])?;
    let mut decoder = RowDecoder::default();
    while index.pending() < limit
        && let Some(row) = rows.next()?
    {
        let id = row::to_event_id(row.get(0)?)?.get();
        match decoder.check_and_decode(row) {
            Ok(event) => index.insert(EventKeys::from_event(&event), id),
            // A verification reports it. No index lists what is not as it was written.
            Err(SqliteError::Damaged(_)) => index.skip_to(id),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all entries in memory to the index on disk, in one transaction.
fn compact_at_once(connection: &Connection, index: &mut PostingIndex) -> Result<(), SqliteError> {
    if index.pending() == 0 {
        let missing = row::number(index.len());
        return Err(SqliteError::flawed_event(missing, "is missing"));
    }
    let compaction = index.start_compaction();
    let transaction = connection.unchecked_transaction()?;
    let step = compaction.write_entries(connection, usize::MAX)?;
    debug_assert!(
        matches!(step, CompactionProgress::Finished),
        "no budget ends it"
    );
    transaction.commit()?;
    drop(index.finish_compaction());
    Ok(())
}
