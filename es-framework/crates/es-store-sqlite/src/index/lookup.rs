//! Looking up event ids by the index in memory and on disk.

use rusqlite::Connection;

use super::key::IndexKey;
use crate::{database_error::SqliteError, row};
use es_store::{Order, options::IdRange};

const IDS_FORTH: &str = "SELECT event_id FROM event_index \
     WHERE key = ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id LIMIT ?4";
const IDS_BACK: &str = "SELECT event_id FROM event_index \
     WHERE key = ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id DESC LIMIT ?4";

/// A lookup of the first events of some keys. It holds the entries that were in memory when it was
/// created; the others are read from the disk.
#[derive(Debug)]
pub(crate) struct IndexLookup {
    range: IdRange,
    order: Order,
    limit: usize,
    /// The number of events that the index on disk covers.
    covered: u64,
    /// Each key with its first ids in memory.
    keys: Vec<(IndexKey, Vec<u64>)>,
}

/// Event ids in the order of a lookup.
#[derive(Debug)]
pub(crate) struct EventIds {
    pub(crate) ids: Vec<u64>,
    /// True if there may be more ids after these.
    pub(crate) is_truncated: bool,
}

impl IndexLookup {
    /// Memory and disk overlap while a compaction runs. The disk is read only up to the number of
    /// events that it covered when this was created, so they need not be read at the same moment.
    pub(super) const fn new(
        keys: Vec<(IndexKey, Vec<u64>)>,
        covered: u64,
        range: IdRange,
        order: Order,
        limit: usize,
    ) -> Self {
        Self {
            range,
            order,
            limit,
            covered,
            keys,
        }
    }

    /// Reads the first ids of the events that have any of the keys, in the order of the lookup.
    pub(crate) fn read_ids(self, connection: &Connection) -> Result<EventIds, SqliteError> {
        let mut ids = Vec::new();
        for (key, in_memory) in &self.keys {
            // Each key may have all of the first events, so the limit applies to each key.
            ids.extend(self.ids_on_disk(connection, key)?);
            ids.extend_from_slice(in_memory);
        }
        ids.sort_unstable();
        ids.dedup();
        if self.order == Order::Antichronological {
            ids.reverse();
        }
        let is_truncated = ids.len() >= self.limit;
        ids.truncate(self.limit);
        Ok(EventIds { ids, is_truncated })
    }

    fn ids_on_disk(&self, connection: &Connection, key: &[u8]) -> Result<Vec<u64>, SqliteError> {
        let IdRange { first, last } = self.range;
        let newest = self.covered.checked_sub(1);
        let Some(last) = newest
            .map(|newest| newest.min(last))
            .filter(|last| first <= *last)
        else {
            return Ok(Vec::new());
        };
        let mut statement = connection.prepare_cached(match self.order {
            Order::Chronological => IDS_FORTH,
            Order::Antichronological => IDS_BACK,
        })?;
        let bounds = (row::number(first), row::number(last));
        let mut rows = statement.query((key, bounds.0, bounds.1, row::number(self.limit)))?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.push(row::to_event_id(row.get(0)?)?.get());
        }
        Ok(ids)
    }
}
