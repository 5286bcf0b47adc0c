//! The catalogue of event types and schemas, as the database holds it.

use std::sync::Arc;

use serde_json::value::RawValue;
use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{database_error::DatabaseError, row};
use es_store::{EventSchema, KnownEventType, catalogue::EventTypeCatalogue};

pub(super) const TYPES: &str = "SELECT type, first_event, schema FROM es_event_types ORDER BY type";
/// The catalogue numbers the schemas in the order of their registration.
const IN_ORDER: &str =
    "SELECT type, first_event, schema FROM es_event_types ORDER BY schema_number, type";

fn broken(flaw: impl std::fmt::Display) -> DatabaseError {
    DatabaseError::Broken(format!("an event type is broken: {flaw}"))
}

pub(super) fn known_type(row: &PgRow) -> Result<KnownEventType, DatabaseError> {
    let name: &str = row.try_get(0)?;
    let first: Option<i64> = row.try_get(1)?;
    let schema: Option<String> = row.try_get(2)?;
    let schema = schema.map(RawValue::from_string).transpose();
    Ok(KnownEventType {
        event_type: name.parse().map_err(broken)?,
        is_phantom: first.is_none(),
        schema: schema.map_err(broken)?.map(Into::into),
    })
}

/// Loads all event types and schemas.
pub(super) async fn load_catalogue(
    connection: &mut PgConnection,
) -> Result<EventTypeCatalogue, DatabaseError> {
    let mut catalogue = EventTypeCatalogue::default();
    for row in sqlx::query(IN_ORDER).fetch_all(connection).await? {
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
