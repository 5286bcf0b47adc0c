//! The index by type. On disk it has a row for each type and block of ids, which holds where in the
//! block the type's events are. A row an event would cost as much as storing the event; this is two
//! bytes an event, written in the one transaction that ends a merge.
//!
//! A type is named by the id of its first event, which no other type shares and which never changes.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _};

use super::{error::DiskError, row, tail::Tail};
use crate::store::{Order, options::IdRange};

/// How many ids a block has. Less than a `u16` counts, and few enough that a row is small.
pub(super) const BLOCK: u64 = 4_096;

const FORTH: &str = "SELECT block, events FROM type_index \
     WHERE type = ?1 AND block BETWEEN ?2 AND ?3 ORDER BY block";
const BACK: &str = "SELECT block, events FROM type_index \
     WHERE type = ?1 AND block BETWEEN ?2 AND ?3 ORDER BY block DESC";

/// Types, and the ids of their events, ascending.
pub(super) type Types = BTreeMap<u64, Vec<u64>>;

/// Adds events to the index on disk. All of them lie behind those that are in it.
pub(super) fn write(connection: &Connection, types: &Types) -> rusqlite::Result<()> {
    let mut known = connection
        .prepare_cached("SELECT events FROM type_index WHERE type = ?1 AND block = ?2")?;
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO type_index (type, block, events) VALUES (?1, ?2, ?3)",
    )?;
    for (event_type, ids) in types {
        let event_type = row::number(*event_type);
        for ids in ids.chunk_by(|one, next| one / BLOCK == next / BLOCK) {
            let block = row::number(ids.first().map_or(0, |id| id / BLOCK));
            let events = known.query_row([event_type, block], |row| row.get::<_, Vec<u8>>(0));
            let mut events = events.optional()?.unwrap_or_default();
            events.extend(ids.iter().flat_map(|id| offset(*id).to_le_bytes()));
            write.execute((event_type, block, events))?;
        }
    }
    Ok(())
}

fn offset(id: u64) -> u16 {
    u16::try_from(id % BLOCK).unwrap_or_default()
}

/// The first ids of some types: those of the tail are known, those on disk are to be looked up.
pub(super) struct TypeIds {
    range: IdRange,
    order: Order,
    limit: usize,
    /// How many events, from the first, the index on disk covers.
    indexed: u64,
    /// Each type with its first ids in the tail.
    types: Vec<(u64, Vec<u64>)>,
}

impl TypeIds {
    /// `None` while the index on disk does not cover what the tail leaves to it.
    pub(super) fn new(
        tail: &Tail,
        types: &[u64],
        range: IdRange,
        order: Order,
        limit: usize,
    ) -> Option<Self> {
        let of = |kind: &u64| (*kind, tail.ids_of_type(*kind, range, order, limit));
        (tail.typed() == tail.indexed()).then(|| Self {
            range,
            order,
            limit,
            indexed: tail.indexed(),
            types: types.iter().map(of).collect(),
        })
    }

    /// The first ids in order, and whether there may be more.
    pub(super) fn look_up(self, connection: &Connection) -> Result<(Vec<u64>, bool), DiskError> {
        let mut ids = Vec::new();
        for (event_type, tail) in &self.types {
            // Of each as many as of all: whose events come first is not known.
            ids.extend(self.on_disk(connection, *event_type)?);
            ids.extend_from_slice(tail);
        }
        ids.sort_unstable();
        ids.dedup();
        if self.order == Order::Antichronological {
            ids.reverse();
        }
        let is_cut = ids.len() >= self.limit;
        ids.truncate(self.limit);
        Ok((ids, is_cut))
    }

    fn on_disk(&self, connection: &Connection, event_type: u64) -> Result<Vec<u64>, DiskError> {
        let mut ids = Vec::new();
        let IdRange { first, last } = self.range;
        let Some(last) = self.indexed.checked_sub(1).map(|newest| newest.min(last)) else {
            return Ok(ids);
        };
        let mut statement = connection.prepare_cached(match self.order {
            Order::Chronological => FORTH,
            Order::Antichronological => BACK,
        })?;
        let blocks = (row::number(first / BLOCK), row::number(last / BLOCK));
        let mut rows = statement.query((row::number(event_type), blocks.0, blocks.1))?;
        while let Some(row) = rows.next()?.filter(|_| ids.len() < self.limit) {
            let broken = || DiskError::Broken("the index by type has a broken row".into());
            let events = row.get_ref(1)?.as_blob().map_err(|_| broken())?;
            let (pairs, odd) = events.as_chunks();
            if !odd.is_empty() {
                return Err(broken());
            }
            let start = row::id(row.get(0)?)?.get().saturating_mul(BLOCK);
            let id = |pair: &[u8; 2]| start.saturating_add(u16::from_le_bytes(*pair).into());
            let found = pairs
                .iter()
                .map(id)
                .filter(|id| (first..=last).contains(id));
            match self.order {
                Order::Chronological => ids.extend(found),
                Order::Antichronological => ids.extend(found.rev()),
            }
        }
        Ok(ids)
    }
}

/// The events from `first` on, up to a block's worth, by their types, as their rows have them.
/// `type_of` names a type.
pub(super) fn read_back(
    connection: &Connection,
    first: u64,
    end: u64,
    type_of: impl Fn(&str) -> Option<u64>,
) -> Result<Types, DiskError> {
    let mut types = Types::new();
    let mut statement = connection
        .prepare_cached("SELECT id, type FROM events WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
    let mut rows = statement.query((row::number(first), row::number(end)))?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let text = row.get_ref(1)?.as_str();
        let text = text.map_err(|error| row::flawed(number, error))?;
        let event_type = type_of(text).ok_or_else(|| unlisted(number))?;
        types
            .entry(event_type)
            .or_default()
            .push(row::id(number)?.get());
    }
    Ok(types)
}

pub(super) fn unlisted(number: i64) -> DiskError {
    row::flawed(number, "has a type that the list of types lacks")
}
