//! The state that is read when the database is opened: the end of the hash chain, the entries of
//! the index that are not on disk, the event types and the schemas.

use std::{collections::HashSet, fmt, sync::Arc, time::Duration};

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    database_error::SqliteError,
    index::{CompactionProgress, EventKeys, PostingIndex},
    index_check::{self, IndexComparison},
    row::{self, RowDecoder, select},
    store_settings::EngineSettings,
};
use es_event::EventType;
use es_store::{
    EventSchema, catalogue::EventTypeCatalogue, event_row::compute_schema_checksum,
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
    let covered = load_coverage(connection, length)?;
    if covered <= settings.checked_at_start
        && let IndexComparison::Unindexed(_) =
            index_check::compare_index(connection, 0..covered, Duration::MAX)?
    {
        tracing::warn!("the index was damaged on the disk, so it is built again");
        index_check::clear_index(connection)?;
    }
    let types = index_check::load_type_names(connection)?;
    loop {
        let covered = load_coverage(connection, length)?;
        let mut index = PostingIndex::with_covered_events(covered);
        // Twice the usual: the memtable of an unfinished compaction is loaded, too.
        let limit = settings.memtable_entries.saturating_mul(2);
        fill_memtable(connection, &mut index, &types, limit)?;
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
fn load_coverage(connection: &Connection, length: u64) -> Result<u64, SqliteError> {
    let covered: i64 =
        connection.query_row("SELECT indexed FROM index_state", [], |row| row.get(0))?;
    let covered = u64::try_from(covered).ok();
    let reason = "the index claims events that are not there";
    covered
        .filter(|covered| *covered <= length)
        .ok_or_else(|| SqliteError::Broken(reason.into()))
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
            SqliteError::Broken(format!("the schema of {event_type} is broken: {error}"))
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
        found => Err(SqliteError::Broken(format!(
            "the table {table} is damaged: {found}"
        ))),
    }
}

fn event_type(row: &Row<'_>) -> Result<EventType, SqliteError> {
    let text: String = row.get(0)?;
    let parsed = text.parse();
    parsed.map_err(|_| SqliteError::Broken(format!("it lists the broken event type {text:?}")))
}

/// Loads the end of the chain.
pub(super) fn load_head(connection: &Connection) -> Result<ChainHead, SqliteError> {
    let last = connection
        .prepare(select!("ORDER BY id DESC LIMIT 1"))?
        .query_row([], |row| Ok(RowDecoder::default().check_and_decode(row)))
        .optional()?
        .transpose()?;
    let Some(last) = last else {
        return Ok(ChainHead::EMPTY);
    };
    let time = last.time.timestamp();
    Ok(ChainHead {
        next: last.id.next(),
        predecessor: last.hash,
        time: time.map_err(|error| SqliteError::flawed_event(row::number(last.id.get()), error))?,
    })
}

/// Inserts events after those that the index has, until about `limit` entries are in memory.
fn fill_memtable(
    connection: &Connection,
    index: &mut PostingIndex,
    types: &HashSet<String>,
    limit: usize,
) -> Result<(), SqliteError> {
    let mut statement = connection.prepare(select!("WHERE id >= ?1 ORDER BY id"))?;
    let mut rows = statement.query([row::number(index.covered())])?;
    let mut decoder = RowDecoder::default();
    while index.pending() < limit
        && let Some(row) = rows.next()?
    {
        let number: i64 = row.get(0)?;
        let id = row::to_event_id(number)?.get();
        if id != index.len() {
            return Err(SqliteError::flawed_event(
                row::number(index.len()),
                "is missing",
            ));
        }
        let event = decoder.check_and_decode(row)?;
        if !types.contains(event.event_type.as_str()) {
            let flaw = "has a type that the list of types lacks";
            return Err(SqliteError::flawed_event(number, flaw));
        }
        index.insert(EventKeys::from_event(&event), id);
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
