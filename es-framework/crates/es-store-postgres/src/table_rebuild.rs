//! Builds the tables that follow from the events again, when an operator asks for it.

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{database_error::DatabaseError, log_head, read_pool::ReadStep};

const STATEMENTS: [&str; 7] = [
    "DELETE FROM es_subjects",
    "INSERT INTO es_subjects (subject, last) SELECT subject, max(id) FROM es_events GROUP BY subject",
    "DELETE FROM es_subtrees",
    // The subjects above one end before each of its slashes but the first.
    "INSERT INTO es_subtrees (ancestor, id) SELECT left(e.subject, slash - 1), e.id FROM es_events e \
     CROSS JOIN LATERAL generate_series(2, length(e.subject)) AS slash \
     WHERE substr(e.subject, slash, 1) = '/'",
    "UPDATE es_event_types SET first_event = NULL",
    "INSERT INTO es_event_types (type, first_event) SELECT type, min(id) FROM es_events GROUP BY type \
     ON CONFLICT (type) DO UPDATE SET first_event = excluded.first_event",
    "DELETE FROM es_event_types WHERE first_event IS NULL AND schema IS NULL",
];

/// Builds the tables again in one transaction. No instance appends meanwhile.
pub(super) struct RebuildStep;

#[async_trait]
impl ReadStep for RebuildStep {
    type Output = ();

    async fn run(&self, connection: &mut PgConnection) -> Result<(), DatabaseError> {
        log_head::begin_and_lock(connection).await?;
        for statement in STATEMENTS {
            sqlx::query(statement).execute(&mut *connection).await?;
        }
        log_head::commit(connection).await
    }
}
