//! Compares the index on disk and the list of event types with the events. They are built from the events, so damaged
//! ones are built again.

use std::{collections::HashSet, ops::Range};

use rusqlite::Connection;

use super::{
    database_error::SqliteError,
    index::EventKeys,
    reader::EventReader,
    row::{self, RowDecoder, select},
};
use es_store::StoreError;

const HAS_ENTRY: &str = "SELECT 1 FROM event_index WHERE key = ?1 AND event_id = ?2";
/// The number of events that one step compares. A long transaction would keep the write-ahead log from
/// being reused.
const STEP: u64 = 4_096;

impl EventReader {
    /// Returns the first event that the index on disk lacks.
    pub(super) async fn find_unindexed_event(&self) -> Result<Option<u64>, StoreError> {
        let covered = self.shared().log().index.covered();
        let mut first = 0;
        while first < covered {
            let end = first.saturating_add(STEP).min(covered);
            let find = move |connection: &Connection| find_unindexed(connection, first..end);
            if let Some(event) = self.with_connection(find).await? {
                return Ok(Some(event));
            }
            first = end;
        }
        Ok(None)
    }
}

/// Returns the first event of a range that the index on disk lacks, or whose type is not listed.
pub(super) fn find_unindexed(
    connection: &Connection,
    range: Range<u64>,
) -> Result<Option<u64>, SqliteError> {
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
        if !types.contains(event.event_type.as_str()) {
            return Ok(Some(event.id.get()));
        }
        for key in EventKeys::from_event(&event).into_keys() {
            let exists = entry.exists((&*key, number)).map_err(SqliteError::from);
            match exists {
                Ok(true) => {}
                Ok(false) => return Ok(Some(event.id.get())),
                Err(error) if error.is_corruption() => return Ok(Some(event.id.get())),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
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
