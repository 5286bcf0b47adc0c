//! Compares the index on disk with the events. The index is built from the events, so a damaged one is
//! built again.

use rusqlite::Connection;

use super::{
    disk_error::DiskError,
    index::EventKeys,
    row::{self, RowDecoder, select},
};

const HAS_ENTRY: &str = "SELECT 1 FROM event_index WHERE key = ?1 AND event_id = ?2";

/// Returns true if the index has all entries of the first `covered` events.
pub(super) fn is_whole(connection: &Connection, covered: u64) -> Result<bool, DiskError> {
    let mut entry = connection.prepare(HAS_ENTRY)?;
    let mut events = connection.prepare(select!("WHERE id < ?1 ORDER BY id"))?;
    let mut rows = events.query([row::number(covered)])?;
    let mut decoder = RowDecoder::default();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        // A read reports a damaged event.
        let Ok(event) = decoder.event(row) else {
            continue;
        };
        for key in EventKeys::from_event(&event).into_keys() {
            match entry.exists((&*key, id)) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    let error = DiskError::from(error);
                    return if error.is_corruption() {
                        Ok(false)
                    } else {
                        Err(error)
                    };
                }
            }
        }
    }
    Ok(true)
}

/// Empties the index, so that the start builds it again.
pub(super) fn clear_index(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "BEGIN IMMEDIATE;
         DELETE FROM event_index;
         UPDATE index_state SET indexed = 0;
         COMMIT;",
    )
}
