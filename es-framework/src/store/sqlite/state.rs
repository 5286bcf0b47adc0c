//! What is read back when the database is opened: the end of the chain, and the part of the index
//! that is not on disk.

use std::{collections::HashMap, fmt, sync::Arc};

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{
    batch::Head,
    error::DiskError,
    key::pack,
    merge::Slice,
    row::{self, Decoder, select},
    settings::Settings,
    tail::{Entry, Tail},
    types::unlisted,
};
use crate::{
    event::EventType,
    store::{EventSchema, catalogue::Catalogue},
};

/// Reads the state that the database is in. A few milliseconds, however many events there are.
pub(super) fn load(
    connection: &Connection,
    settings: &Settings,
) -> Result<(Head, Tail), DiskError> {
    let head = head(connection)?;
    let length = head.next.map_or(u64::MAX, |next| next.get());
    let types = first_events(connection)?;
    loop {
        let (indexed, typed): (i64, i64) =
            connection.query_row("SELECT indexed, typed FROM index_state", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        let covered = |count, most| u64::try_from(count).ok().filter(|count| *count <= most);
        let indexed = covered(indexed, length);
        let typed = indexed.and_then(|indexed| covered(typed, indexed));
        let (Some(indexed), Some(typed)) = (indexed, typed) else {
            let reason = "the index claims events that are not there";
            return Err(DiskError::Broken(reason.into()));
        };
        // Twice the usual: a merge that was under way has kept its part.
        let most = settings.tail_events.saturating_mul(2);
        let tail = tail(connection, Tail::after(indexed, typed), &types, most)?;
        if tail.length() == length {
            return Ok((head, tail));
        }
        // A store that had a larger index in memory: memory stays bounded all the same.
        catch_up(connection, tail)?;
    }
}

/// The event types, of events and of schemas.
pub(super) fn catalogue(connection: &Connection) -> Result<Catalogue, DiskError> {
    let mut catalogue = Catalogue::default();
    let mut statement = connection.prepare("SELECT type, first_event FROM event_types")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        catalogue.saw(&event_type(row)?, row::id(row.get(1)?)?);
    }
    let mut statement = connection.prepare("SELECT type, schema FROM event_schemas")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let event_type = event_type(row)?;
        let broken = |error: &dyn fmt::Display| {
            DiskError::Broken(format!("the schema of {event_type} is broken: {error}"))
        };
        let text = row.get_ref(1)?.as_str().map_err(|error| broken(&error))?;
        let schema = EventSchema::parse(text).map_err(|error| broken(&error))?;
        let registered = catalogue.register(event_type.clone(), Arc::new(schema));
        registered.map_err(|error| broken(&error))?;
    }
    Ok(catalogue)
}

fn event_type(row: &Row<'_>) -> Result<EventType, DiskError> {
    let text: String = row.get(0)?;
    let parsed = text.parse();
    parsed.map_err(|_| DiskError::Broken(format!("it lists the broken event type {text:?}")))
}

fn head(connection: &Connection) -> Result<Head, DiskError> {
    let last = connection
        .prepare(select!("ORDER BY id DESC LIMIT 1"))?
        .query_row([], |row| Ok(Decoder::default().event(row)))
        .optional()?
        .transpose()?;
    let Some(last) = last else {
        return Ok(Head::EMPTY);
    };
    let time = last.time.timestamp();
    Ok(Head {
        next: last.id.next(),
        predecessor: last.hash,
        time: time.map_err(|error| row::flawed(row::number(last.id.get()), error))?,
    })
}

/// The first event of each type.
fn first_events(connection: &Connection) -> Result<HashMap<String, u64>, DiskError> {
    let mut statement = connection.prepare("SELECT type, first_event FROM event_types")?;
    let mut rows = statement.query([])?;
    let mut types = HashMap::new();
    while let Some(row) = rows.next()? {
        types.insert(row.get(0)?, row::id(row.get(1)?)?.get());
    }
    Ok(types)
}

fn tail(
    connection: &Connection,
    mut tail: Tail,
    types: &HashMap<String, u64>,
    most: usize,
) -> Result<Tail, DiskError> {
    let mut statement = connection
        .prepare("SELECT id, subject, type FROM events WHERE id >= ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((row::number(tail.indexed()), row::number(most)))?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let id = row::id(number)?.get();
        if id != tail.length() {
            let missing = row::number(tail.length());
            return Err(row::flawed(missing, "is missing"));
        }
        let text = |index| {
            let text = row.get_ref(index)?.as_str();
            text.map_err(|error| row::flawed(number, error))
        };
        let subject = pack(text(1)?);
        let event_type = types.get(text(2)?).copied();
        let event_type = event_type.ok_or_else(|| unlisted(number))?;
        let entry = Entry {
            subject,
            event_type,
        };
        tail.push(entry, id);
    }
    Ok(tail)
}

fn catch_up(connection: &Connection, mut tail: Tail) -> Result<(), DiskError> {
    if tail.newest_events() == 0 {
        let missing = row::number(tail.length());
        return Err(row::flawed(missing, "is missing"));
    }
    tail.begin_merge();
    let transaction = connection.unchecked_transaction()?;
    let slice = tail.merging().write_slice(connection, usize::MAX)?;
    debug_assert!(matches!(slice, Slice::Last), "no budget cuts it short");
    Ok(transaction.commit()?)
}
