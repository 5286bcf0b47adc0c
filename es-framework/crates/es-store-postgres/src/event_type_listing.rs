//! The event types of the store and their schemas.

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    event_catalogue::{TYPES, known_type},
    read_pool::ReadStep,
};
use es_event::EventType;
use es_store::KnownEventType;

const TYPE: &str = "SELECT type, first_event, schema FROM es_event_types WHERE type = $1";

/// Lists all event types, sorted.
pub(super) struct ReadEventTypes;

#[async_trait]
impl ReadStep for ReadEventTypes {
    type Output = Vec<KnownEventType>;

    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Vec<KnownEventType>, DatabaseError> {
        let rows = sqlx::query(TYPES).fetch_all(connection).await?;
        rows.iter().map(known_type).collect()
    }
}

/// Reads one event type.
pub(super) struct ReadEventType(pub(super) EventType);

#[async_trait]
impl ReadStep for ReadEventType {
    type Output = Option<KnownEventType>;

    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Option<KnownEventType>, DatabaseError> {
        let query = sqlx::query(TYPE).bind(self.0.as_str());
        let row = query.fetch_optional(connection).await?;
        row.as_ref().map(known_type).transpose()
    }
}
