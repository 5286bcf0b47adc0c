//! Registration of a schema. The stored events are checked first, the newest of them again while the
//! log is locked.

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    event_selection::{self, StepLimits},
    log_head::{self, LogHead},
    read_pool::ReadStep,
    row::number,
    store_state::StoreState,
};
use es_event::{EventType, RecordedEvent, Subject};
use es_store::{
    EventSchema, SchemaConflict,
    event_row::compute_schema_checksum,
    options::IdRange,
    scan::Scan,
    schema::WorkBudget,
    write::{SchemaRegistration, WRITER_STEPS},
};

/// The number of events that one step checks.
const STEP: StepLimits = StepLimits {
    events: 256,
    bytes: 8 << 20,
};

const INSERT: &str = "INSERT INTO es_event_types (type, schema, schema_number, schema_checksum) \
     VALUES ($1, $2, $3, $4) \
     ON CONFLICT (type) DO UPDATE SET schema = excluded.schema, \
     schema_number = excluded.schema_number, schema_checksum = excluded.schema_checksum";

/// A step of the events of a type.
#[derive(Debug)]
pub(super) struct EventsOfTypeReadStep {
    pub(super) event_type: EventType,
    /// The first event to read.
    pub(super) next: u64,
    /// The last event to read.
    pub(super) last: u64,
}

/// A step of the events of a type, and the id from which the next step continues.
#[derive(Debug)]
pub(super) struct EventsOfType {
    events: Vec<RecordedEvent>,
    rest: Option<u64>,
}

#[async_trait]
impl ReadStep for EventsOfTypeReadStep {
    type Output = EventsOfType;

    async fn run(&self, connection: &mut PgConnection) -> Result<EventsOfType, DatabaseError> {
        let range = IdRange {
            first: self.next,
            last: self.last,
        };
        if range.first > range.last {
            let (events, rest) = (Vec::new(), None);
            return Ok(EventsOfType { events, rest });
        }
        let types = [self.event_type.clone()];
        let scan = Scan::over_range(Subject::root(), true, range).of_types(types);
        let (chunk, _) = event_selection::read_chunk(connection, &scan, STEP).await?;
        Ok(EventsOfType {
            events: chunk.events,
            rest: chunk.rest.map(|rest| rest.first),
        })
    }
}

/// Checks events against a schema, each within its own budget or all within one. Returns the id from which the next
/// step continues, or `None` at the end.
pub(super) fn check_events(
    schema: &EventSchema,
    step: &EventsOfType,
    mut budget: Option<&mut WorkBudget>,
) -> Result<Option<u64>, SchemaConflict> {
    for event in &step.events {
        let mut own = WorkBudget::of(WorkBudget::WRITE);
        let budget = budget.as_deref_mut().unwrap_or(&mut own);
        schema.check_event(event.id, &event.data, budget)?;
    }
    Ok(step.rest)
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
    head.check_open()?;
    state.refresh_catalogue(connection, head.schemas).await?;
    if let Some(conflict) = find_conflict(connection, state, registration, &head).await? {
        log_head::roll_back(connection).await?;
        return Ok(Err(conflict));
    }
    sqlx::query(INSERT)
        .bind(event_type.as_str())
        .bind(schema.json().get())
        .bind(number(head.schemas))
        .bind(compute_schema_checksum(event_type, schema.json().get()))
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
    let mut read = EventsOfTypeReadStep {
        event_type: event_type.clone(),
        next: registration.unchecked,
        last: last.get(),
    };
    // All writers wait for this check.
    let mut budget = WorkBudget::of(WRITER_STEPS);
    loop {
        let events = read.run(connection).await?;
        match check_events(schema, &events, Some(&mut budget)) {
            Ok(Some(next)) => read.next = next,
            Ok(None) => return Ok(None),
            Err(conflict) => return Ok(Some(conflict)),
        }
    }
}
