//! Verifies events, and compares the index on disk and the list of event types with them.

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
use es_event::Hash;
use es_store::{LogDamage, StoreError};

const HAS_ENTRY: &str = "SELECT 1 FROM event_index WHERE key = ?1 AND event_id = ?2";
/// The time after which a step of a reader ends. A long transaction would keep the write-ahead log from being reused.
const READER_STEP: Duration = Duration::from_millis(20);

/// The position of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckPosition {
    /// The events that are verified next.
    pub(super) left: Range<u64>,
    /// The hash of the event before them, if it is known.
    pub(super) predecessor: Option<Hash>,
}

impl CheckPosition {
    pub(super) fn of_range(left: Range<u64>) -> Self {
        let predecessor = (left.start == 0).then_some(Hash::ZERO);
        Self { left, predecessor }
    }
}

impl EventReader {
    /// Compares the index with the events from `first` on. Returns the first damage.
    pub(super) async fn find_index_damage(
        &self,
        first: u64,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<SqliteError>, StoreError> {
        let covered = self.shared().log().index.covered();
        let mut position = CheckPosition::of_range(first..covered);
        while !position.left.is_empty() {
            let check = move |connection: &Connection| {
                let damage = check_events(connection, &mut position, covered, READER_STEP);
                Ok((damage, position))
            };
            let (checked, next) = self.with_connection(check).await?;
            if let Err(error) = checked {
                return Ok(Some(error));
            }
            position = next;
            progress(position.left.start);
        }
        Ok(None)
    }
}

/// Verifies the next events until the time is over, one at least, and that the index on disk has those before `covered`. A
/// number of events would be no budget: an event has a hundred entries or a large payload, and the disk may be slow. After an
/// error, the position is behind the event that is at fault.
pub(super) fn check_events(
    connection: &Connection,
    position: &mut CheckPosition,
    covered: u64,
    time: Duration,
) -> Result<(), SqliteError> {
    let begun = Instant::now();
    let mut entry = connection.prepare_cached(HAS_ENTRY)?;
    let mut events =
        connection.prepare_cached(select!("WHERE id >= ?1 AND id < ?2 ORDER BY id"))?;
    let range = (
        row::number(position.left.start),
        row::number(position.left.end),
    );
    let mut rows = events.query(range)?;
    let types = load_type_names(connection)?;
    let mut decoder = RowDecoder::default();
    while !position.left.is_empty() {
        let id = position.left.start;
        let number = row::number(id);
        position.left.start = id.saturating_add(1);
        let predecessor = position.predecessor.take();
        let row = rows.next()?;
        let row = row.ok_or_else(|| SqliteError::flawed_event(number, "is missing"))?;
        if row.get::<_, i64>(0)? != number {
            return Err(SqliteError::flawed_event(number, "is missing"));
        }
        let event = decoder.check_and_decode(row)?;
        let verified = event.verify(predecessor.unwrap_or(event.predecessor_hash));
        verified.map_err(|broken| LogDamage::of_event(id, broken.to_string()))?;
        position.predecessor = Some(event.hash);
        if !types.contains(event.event_type.as_str()) {
            let flaw = format!("it lacks the type of event {id}");
            return Err(SqliteError::damaged_table("event_types", flaw));
        }
        if id < covered {
            for key in EventKeys::from_event(&event).into_keys() {
                if !entry.exists((&*key, number))? {
                    let flaw =
                        format!("it lacks event {id}, so reads of its subject or type miss it");
                    return Err(SqliteError::damaged_table("event_index", flaw));
                }
            }
        }
        if begun.elapsed() >= time {
            return Ok(());
        }
    }
    Ok(())
}

fn load_type_names(connection: &Connection) -> Result<HashSet<String>, SqliteError> {
    let mut statement = connection.prepare_cached("SELECT type FROM event_types")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Empties the index, so that the next load builds it again, and lists the event types again.
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
