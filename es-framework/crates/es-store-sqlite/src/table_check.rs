//! Compares the index, the list of event types and the schemas with the events.

use std::{collections::BTreeMap, ops::Range};

use rusqlite::Connection;

use super::{
    database_error::SqliteError,
    reader::EventReader,
    row::{self, number},
    startup,
};
use es_event::EventId;
use es_store::{LogDamage, StoreError, catalogue::EventTypeCatalogue};

const FIRST_EVENTS: &str =
    "SELECT type, min(id) FROM events WHERE id >= ?1 AND id < ?2 GROUP BY type";
/// The number of events that one step reads. A long transaction would keep the write-ahead log from
/// being reused.
const STEP: u64 = 4_096;

impl EventReader {
    /// Returns the first damage of the tables that follow from the events and of the schemas.
    pub(super) async fn find_table_damage(
        &self,
        first: u64,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Vec<LogDamage>, StoreError> {
        let check = |connection: &Connection| {
            // One snapshot: the index grows behind the events.
            let _transaction = connection.unchecked_transaction()?;
            let last = startup::load_head(connection)?.next;
            let length = last.map_or(u64::MAX, EventId::get);
            Ok(startup::check_coverage(connection, length).err())
        };
        let uncovered = self.with_connection(check).await?;
        let damaged = match uncovered {
            Some(error) => Some(error),
            None => self.find_index_damage(first, progress).await?,
        };
        if let Some(error) = damaged {
            let damage = error.damage();
            return damage.map_or_else(
                || Err(error.to_store_error(&self.shared().file)),
                |damage| Ok(vec![damage]),
            );
        }
        let damage = self.find_type_damage(progress).await?;
        Ok(damage.into_iter().collect())
    }

    async fn find_type_damage(
        &self,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Option<LogDamage>, StoreError> {
        let (length, registered) = {
            let shared = self.shared();
            (shared.log().index.len(), shared.catalogue().schemas())
        };
        let mut types = BTreeMap::new();
        let (indexed, mut first) = (length, 0);
        while first < length {
            let end = first.saturating_add(STEP).min(length);
            let read = move |connection: &Connection| read_first_events(connection, first..end);
            for (name, id) in self.with_connection(read).await? {
                types.entry(name).or_insert(id);
            }
            first = end;
            progress(indexed.saturating_add(first));
        }
        let catalogue = self.with_connection(startup::load_catalogue).await?;
        if catalogue.schemas() < registered {
            let found = catalogue.schemas();
            let flaw = format!("it has {found} schemas, but {registered} were registered");
            return Ok(Some(LogDamage::of_table("event_schemas", flaw)));
        }
        let flaw = find_type_flaw(&catalogue, &types, length);
        Ok(flaw.map(|flaw| LogDamage::of_table("event_types", flaw)))
    }
}

fn read_first_events(
    connection: &Connection,
    range: Range<u64>,
) -> Result<Vec<(String, EventId)>, SqliteError> {
    let mut statement = connection.prepare_cached(FIRST_EVENTS)?;
    let mut rows = statement.query((number(range.start), number(range.end)))?;
    let mut first_events = Vec::new();
    while let Some(row) = rows.next()? {
        first_events.push((row.get(0)?, row::to_event_id(row.get(1)?)?));
    }
    Ok(first_events)
}

/// Compares the listed event types with the first events of all types.
fn find_type_flaw(
    catalogue: &EventTypeCatalogue,
    types: &BTreeMap<String, EventId>,
    length: u64,
) -> Option<String> {
    let listed: BTreeMap<String, EventId> = catalogue
        .event_types()
        .into_iter()
        .filter_map(|known| {
            let first = catalogue.id_of_first_event(&known.event_type)?;
            // A type whose first event is newer than the comparison is left out.
            (first.get() < length).then(|| (known.event_type.as_str().to_owned(), first))
        })
        .collect();
    let unlisted = types
        .iter()
        .find(|(name, first)| listed.get(*name) != Some(first));
    if let Some((name, first)) = unlisted {
        return Some(format!(
            "it lacks event {first}, the first of the type {name}"
        ));
    }
    let unknown = listed.keys().find(|name| !types.contains_key(*name))?;
    Some(format!("it lists {unknown}, which no event has"))
}
