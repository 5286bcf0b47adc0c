//! The ids of one subject's events, by the index on disk and in memory.

use rusqlite::{CachedStatement, Connection};

use super::{
    error::DiskError,
    key::{Key, pack},
    row,
    settings::ChunkLimits,
    tail::Tail,
};
use crate::{
    event::{EventId, EventType, Subject},
    store::{Order, options::IdRange},
};

const TYPE: &str = "SELECT type FROM events WHERE id = ?1";
const IDS_FORTH: &str = "SELECT event_id FROM subject_index \
     WHERE subject = ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id LIMIT ?4";
const IDS_BACK: &str = "SELECT event_id FROM subject_index \
     WHERE subject = ?1 AND event_id BETWEEN ?2 AND ?3 ORDER BY event_id DESC LIMIT ?4";

/// The first ids of one subject: those of the tail are known, those on disk are to be looked up.
pub(super) struct Ids {
    limits: ChunkLimits,
    subject: Key,
    range: IdRange,
    order: Order,
    indexed: u64,
    tail: Vec<u64>,
}

/// What a look at some events of a subject came to.
pub(super) enum Found {
    At(EventId),
    Nowhere,
    /// Not among those; this is the rest.
    NotYet(IdRange),
}

impl Ids {
    /// Tail and disk overlap while a merge goes on; each is asked up to where, and from where, the
    /// disk was complete at one moment, so it does not matter that they are looked at in turn.
    pub(super) fn new(
        tail: &Tail,
        subject: &Subject,
        range: IdRange,
        order: Order,
        limits: ChunkLimits,
    ) -> Self {
        let subject = pack(subject.as_str());
        Self {
            limits,
            range,
            order,
            indexed: tail.indexed(),
            tail: tail.ids(&subject, range, order, limits.events),
            subject,
        }
    }

    /// The first ids in order, a chunk's worth at most.
    pub(super) fn look_up(&self, connection: &Connection) -> Result<Vec<u64>, DiskError> {
        let last = self
            .indexed
            .checked_sub(1)
            .map(|last| last.min(self.range.last));
        let Some(last) = last.filter(|last| self.range.first <= *last) else {
            return Ok(self.tail.clone());
        };
        let mut ids = Vec::new();
        if self.order == Order::Antichronological {
            ids.extend_from_slice(&self.tail);
        }
        let query = match self.order {
            Order::Chronological => IDS_FORTH,
            Order::Antichronological => IDS_BACK,
        };
        let mut statement = connection.prepare_cached(query)?;
        let (first, last) = (row::number(self.range.first), row::number(last));
        let room = row::number(self.limits.events.saturating_sub(ids.len()));
        let mut rows = statement.query((&*self.subject, first, last, room))?;
        while let Some(row) = rows.next()? {
            ids.push(row::id(row.get(0)?)?.get());
        }
        if self.order == Order::Chronological {
            ids.extend_from_slice(&self.tail);
            ids.truncate(self.limits.events);
        }
        Ok(ids)
    }

    pub(super) fn first_of(
        &self,
        connection: &Connection,
        wanted: &EventType,
    ) -> Result<Found, DiskError> {
        let transaction = connection.unchecked_transaction()?;
        let ids = self.look_up(connection)?;
        let mut statement = connection.prepare_cached(TYPE)?;
        for id in &ids {
            let number = row::number(*id);
            let is_wanted = one(&mut statement, number, |row| {
                let text = row.get_ref(0)?.as_str();
                let text = text.map_err(|error| row::flawed(number, error))?;
                Ok(text == wanted.as_str())
            })?;
            if is_wanted {
                return Ok(Found::At(row::id(number)?));
            }
        }
        drop(statement);
        transaction.commit()?;
        let last = ids.last().filter(|_| ids.len() >= self.limits.events);
        let rest = last.and_then(|last| beyond(self.range, self.order, *last));
        Ok(rest.map_or(Found::Nowhere, Found::NotYet))
    }
}

fn beyond(range: IdRange, order: Order, id: u64) -> Option<IdRange> {
    let IdRange { first, last } = range;
    match order {
        Order::Chronological => Some(IdRange {
            first: id.checked_add(1)?,
            last,
        }),
        Order::Antichronological => Some(IdRange {
            first,
            last: id.checked_sub(1)?,
        }),
    }
}

/// What a query finds at an id that the index names.
pub(super) fn one<T>(
    statement: &mut CachedStatement<'_>,
    id: i64,
    read: impl FnOnce(&rusqlite::Row<'_>) -> Result<T, DiskError>,
) -> Result<T, DiskError> {
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => read(row),
        None => Err(row::flawed(id, "is missing")),
    }
}
