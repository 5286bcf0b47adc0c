//! Compares the index on disk and the list of event types with the events. They are built from the events, so damaged
//! ones are built again.

use std::{
    collections::HashSet,
    ops::Range,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{
    database_error::SqliteError,
    index::EventKeys,
    reader::EventReader,
    row::{self, RowDecoder, select},
};
use es_store::StoreError;

const HAS_ENTRY: &str = "SELECT 1 FROM event_index WHERE key = ?1 AND event_id = ?2";
/// The time after which a step of a reader ends. A long transaction would keep the write-ahead log from being reused.
const READER_STEP: Duration = Duration::from_millis(20);

/// The outcome of one step of the comparison.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum IndexComparison {
    /// The index has all events before this one.
    CheckedTo(u64),
    /// The index on disk lacks this event, or its type is not listed.
    Unindexed(u64),
}

impl EventReader {
    /// Returns the first event that the index on disk lacks.
    pub(super) async fn find_unindexed_event(
        &self,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<u64>, StoreError> {
        let covered = self.shared().log().index.covered();
        let mut first = 0;
        while first < covered {
            let compare = move |connection: &Connection| {
                compare_index(connection, first..covered, READER_STEP)
            };
            match self.with_connection(compare).await? {
                IndexComparison::CheckedTo(end) => {
                    first = end;
                    progress(first);
                }
                IndexComparison::Unindexed(event) => return Ok(Some(event)),
            }
        }
        Ok(None)
    }
}

/// Compares the index with the events of a range until the time is over, with one event at least. A number of events
/// would be no budget: an event has a hundred entries or a large payload, and the disk may be slow.
pub(super) fn compare_index(
    connection: &Connection,
    range: Range<u64>,
    time: Duration,
) -> Result<IndexComparison, SqliteError> {
    let begun = Instant::now();
    let mut entry = connection.prepare_cached(HAS_ENTRY)?;
    let mut events =
        connection.prepare_cached(select!("WHERE id >= ?1 AND id < ?2 ORDER BY id"))?;
    let mut rows = events.query((row::number(range.start), row::number(range.end)))?;
    let types = load_type_names(connection)?;
    let mut decoder = RowDecoder::default();
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        // A read reports a damaged event.
        let Ok(event) = decoder.check_and_decode(row) else {
            continue;
        };
        let id = event.id.get();
        if !types.contains(event.event_type.as_str()) {
            return Ok(IndexComparison::Unindexed(id));
        }
        for key in EventKeys::from_event(&event).into_keys() {
            let exists = entry.exists((&*key, number)).map_err(SqliteError::from);
            match exists {
                Ok(true) => {}
                Ok(false) => return Ok(IndexComparison::Unindexed(id)),
                Err(error) if error.is_corruption() => return Ok(IndexComparison::Unindexed(id)),
                Err(error) => return Err(error),
            }
        }
        if begun.elapsed() >= time {
            return Ok(IndexComparison::CheckedTo(id.saturating_add(1)));
        }
    }
    Ok(IndexComparison::CheckedTo(range.end))
}

pub(super) fn load_type_names(connection: &Connection) -> Result<HashSet<String>, SqliteError> {
    let mut statement = connection.prepare_cached("SELECT type FROM event_types")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Empties the index, so that the start builds it again, and lists the event types again.
pub(super) fn clear_index(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "BEGIN IMMEDIATE;
         DELETE FROM event_index;
         UPDATE index_state SET indexed = 0;
         DELETE FROM event_types;
         INSERT INTO event_types SELECT type, min(id) FROM events GROUP BY type;
         COMMIT;",
    )
}
