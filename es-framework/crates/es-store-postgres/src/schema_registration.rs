//! Registration of a schema. The stored events are checked first, the newest of them again while the
//! log is locked.

use async_trait::async_trait;
use serde_json::value::RawValue;
use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    log_head::{self, LogHead},
    read_pool::ReadStep,
    row::{self, number},
    store_state::StoreState,
};
use es_event::EventType;
use es_store::{
    EventSchema, SchemaConflict,
    schema::WorkBudget,
    write::{SchemaRegistration, WRITER_STEPS},
};

/// The number of events that one step checks.
const STEP: i64 = 256;

const EVENTS: &str = "SELECT id, data FROM es_events WHERE type = $1 AND id BETWEEN $2 AND $3 \
     ORDER BY id LIMIT $4";
const INSERT: &str = "INSERT INTO es_event_types (type, schema, schema_number) VALUES ($1, $2, $3) \
     ON CONFLICT (type) DO UPDATE SET schema = excluded.schema, \
     schema_number = excluded.schema_number";

/// A step of the events of a type.
#[derive(Debug)]
pub(super) struct ReadEventsOfType {
    pub(super) event_type: EventType,
    /// The first event to read.
    pub(super) next: u64,
    /// The last event to read.
    pub(super) last: u64,
}

/// The ids and the data of some events.
pub(super) type EventData = Vec<(i64, String)>;

#[async_trait]
impl ReadStep for ReadEventsOfType {
    type Output = EventData;

    async fn run(&self, connection: &mut PgConnection) -> Result<EventData, DatabaseError> {
        let events = sqlx::query_as(EVENTS)
            .bind(self.event_type.as_str())
            .bind(number(self.next))
            .bind(number(self.last))
            .bind(STEP)
            .fetch_all(connection)
            .await?;
        Ok(events)
    }
}

/// Checks events against a schema, each within its own budget or all within one. Returns the id after the
/// last of them, or `None` if there are none.
pub(super) fn check_events(
    schema: &EventSchema,
    events: &[(i64, String)],
    mut budget: Option<&mut WorkBudget>,
) -> Result<Result<Option<u64>, SchemaConflict>, DatabaseError> {
    let mut next = None;
    for (number, data) in events {
        let id = row::to_event_id(*number)?;
        let data: &RawValue = serde_json::from_str(data)
            .map_err(|error| DatabaseError::flawed_event(*number, error))?;
        let mut own = WorkBudget::of(WorkBudget::WRITE);
        let budget = budget.as_deref_mut().unwrap_or(&mut own);
        if let Err(conflict) = schema.check_event(id, data, budget) {
            return Ok(Err(conflict));
        }
        next = Some(id.get().saturating_add(1));
    }
    Ok(Ok(next))
}

/// Registers a schema in one transaction. `is_sent` is true from the moment that the commit may have
/// arrived.
pub(super) async fn register_schema(
    connection: &mut PgConnection,
    state: &StoreState,
    registration: &SchemaRegistration,
    is_sent: &mut bool,
) -> Result<Result<(), SchemaConflict>, DatabaseError> {
    let SchemaRegistration {
        event_type, schema, ..
    } = registration;
    let head = log_head::begin_and_lock(connection).await?;
    state.refresh_catalogue(connection, head.schemas).await?;
    if let Some(conflict) = find_conflict(connection, state, registration, &head).await? {
        log_head::roll_back(connection).await?;
        return Ok(Err(conflict));
    }
    sqlx::query(INSERT)
        .bind(event_type.as_str())
        .bind(schema.json().get())
        .bind(number(head.schemas))
        .execute(&mut *connection)
        .await?;
    log_head::add_schema(connection).await?;
    *is_sent = true;
    log_head::commit(connection).await?;
    Ok(Ok(()))
}

async fn find_conflict(
    connection: &mut PgConnection,
    state: &StoreState,
    registration: &SchemaRegistration,
    head: &LogHead,
) -> Result<Option<SchemaConflict>, DatabaseError> {
    let SchemaRegistration {
        event_type, schema, ..
    } = registration;
    if let Err(conflict) = state.catalogue().check_new_schema(event_type, schema) {
        return Ok(Some(conflict));
    }
    let Some(last) = head.last else {
        return Ok(None);
    };
    let mut read = ReadEventsOfType {
        event_type: event_type.clone(),
        next: registration.unchecked,
        last: last.get(),
    };
    // All writers wait for this check.
    let mut budget = WorkBudget::of(WRITER_STEPS);
    loop {
        let events = read.run(connection).await?;
        match check_events(schema, &events, Some(&mut budget))? {
            Ok(Some(next)) => read.next = next,
            Ok(None) => return Ok(None),
            Err(conflict) => return Ok(Some(conflict)),
        }
    }
}
