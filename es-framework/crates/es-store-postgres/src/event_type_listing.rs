//! The event types of the store and their schemas.

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    event_catalogue::{list_types, read_type},
    read_pool::ReadStep,
};
use es_event::EventType;
use es_store::KnownEventType;

/// Lists all event types, sorted.
pub(super) struct EventTypesReadStep;

#[async_trait]
impl ReadStep for EventTypesReadStep {
    type Output = Vec<KnownEventType>;

    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Vec<KnownEventType>, DatabaseError> {
        list_types(connection).await
    }
}

/// Reads one event type.
pub(super) struct EventTypeReadStep(pub(super) EventType);

#[async_trait]
impl ReadStep for EventTypeReadStep {
    type Output = Option<KnownEventType>;

    async fn run(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Option<KnownEventType>, DatabaseError> {
        read_type(connection, &self.0).await
    }
}
