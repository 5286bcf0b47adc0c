//! The catalogue of event types and schemas, as the database holds it. A schema that was changed or removed is refused.

use std::sync::Arc;

use serde_json::value::RawValue;
use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{database_error::DatabaseError, row};
use es_event::EventType;
use es_store::{
    EventSchema, KnownEventType, catalogue::EventTypeCatalogue, event_row::compute_schema_checksum,
};

const TYPES: &str =
    "SELECT type, first_event, schema, schema_checksum FROM es_event_types ORDER BY type";
/// The catalogue numbers the schemas in the order of their registration.
const IN_ORDER: &str = "SELECT type, first_event, schema, schema_checksum FROM es_event_types \
     ORDER BY schema_number, type";
const TYPE: &str =
    "SELECT type, first_event, schema, schema_checksum FROM es_event_types WHERE type = $1";
const SCHEMAS: &str = "SELECT schemas FROM es_head WHERE id = 1";

fn broken(flaw: impl std::fmt::Display) -> DatabaseError {
    DatabaseError::damaged_table("es_event_types", format!("an event type is broken: {flaw}"))
}

fn known_type(row: &PgRow) -> Result<KnownEventType, DatabaseError> {
    let name: &str = row.try_get(0)?;
    let event_type: EventType = name.parse().map_err(broken)?;
    let first: Option<i64> = row.try_get(1)?;
    let schema: Option<String> = row.try_get(2)?;
    let stored: Option<i64> = row.try_get(3)?;
    let computed = schema
        .as_deref()
        .map(|schema| compute_schema_checksum(&event_type, schema));
    if stored != computed {
        let flaw =
            format!("the schema of {event_type} was changed or removed: its checksum differs");
        return Err(DatabaseError::damaged_table("es_event_types", flaw));
    }
    let schema = schema.map(RawValue::from_string).transpose();
    Ok(KnownEventType {
        event_type,
        is_phantom: first.is_none(),
        schema: schema.map_err(broken)?.map(Into::into),
    })
}

/// Reads all rows of event types. There must be as many schemas as were registered.
async fn read_rows(
    connection: &mut PgConnection,
    statement: &'static str,
) -> Result<Vec<PgRow>, DatabaseError> {
    // A schema that is registered in between makes one more, not one less.
    let registered: Option<i64> = sqlx::query_scalar(SCHEMAS)
        .fetch_optional(&mut *connection)
        .await?;
    let registered = registered.ok_or_else(DatabaseError::missing_head)?;
    let rows = sqlx::query(statement).fetch_all(connection).await?;
    let mut found = 0_i64;
    for row in &rows {
        let schema: Option<&str> = row.try_get(2)?;
        found = found.saturating_add(schema.is_some().into());
    }
    if found < registered {
        let flaw = format!(
            "it has {found} schemas, but {registered} were registered: \
             events would be appended without a check"
        );
        return Err(DatabaseError::damaged_table("es_event_types", flaw));
    }
    Ok(rows)
}

/// Lists all event types, sorted.
pub(super) async fn list_types(
    connection: &mut PgConnection,
) -> Result<Vec<KnownEventType>, DatabaseError> {
    let rows = read_rows(connection, TYPES).await?;
    rows.iter().map(known_type).collect()
}

/// Reads one event type.
pub(super) async fn read_type(
    connection: &mut PgConnection,
    event_type: &EventType,
) -> Result<Option<KnownEventType>, DatabaseError> {
    let query = sqlx::query(TYPE).bind(event_type.as_str());
    match query.fetch_optional(&mut *connection).await? {
        Some(row) => Ok(Some(known_type(&row)?)),
        None => {
            read_rows(connection, TYPES).await?;
            Ok(None)
        }
    }
}

/// Loads all event types and schemas.
pub(super) async fn load_catalogue(
    connection: &mut PgConnection,
) -> Result<EventTypeCatalogue, DatabaseError> {
    let mut catalogue = EventTypeCatalogue::default();
    for row in read_rows(connection, IN_ORDER).await? {
        let known = known_type(&row)?;
        if let Some(first) = row.try_get(1)? {
            catalogue.record_event(&known.event_type, row::to_event_id(first)?);
        }
        if let Some(schema) = known.schema {
            let schema = EventSchema::parse_stored(schema.get()).map_err(broken)?;
            let registered = catalogue.register_schema(known.event_type, Arc::new(schema));
            registered.map_err(broken)?;
        }
    }
    Ok(catalogue)
}
