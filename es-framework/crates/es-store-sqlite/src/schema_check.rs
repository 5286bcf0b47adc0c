//! Checks a new schema against the stored events of its type.

use std::sync::Arc;

use rusqlite::Connection;

use super::{
    database_error::SqliteError,
    reader::EventReader,
    row::{self, select},
    row_checksum,
};
use es_event::EventType;
use es_store::{EventSchema, RegisterError, SchemaConflict, schema::WorkBudget};

/// The number of events that one step checks. A long transaction would keep the write-ahead log from
/// being reused.
const STEP: u64 = 16_384;
/// A step ends after it has looked at this number of JSON values. Other reads then get the connection.
const STEP_WORK: u64 = 2_000_000;

impl EventReader {
    /// Checks the events that are stored now. Returns the id of the first event that is not checked.
    pub(super) async fn check_stored_events(
        &self,
        event_type: &EventType,
        schema: &Arc<EventSchema>,
    ) -> Result<u64, RegisterError> {
        let length = self.shared().log().index.len();
        let first = self.shared().catalogue().id_of_first_event(event_type);
        let (Some(first), Some(last)) = (first, length.checked_sub(1)) else {
            return Ok(length);
        };
        let mut check = StoredEventsCheck {
            event_type: event_type.clone(),
            schema: Arc::clone(schema),
            next: first.get(),
            last,
            limit: None,
        };
        loop {
            let checked = self.with_connection(move |connection| {
                let result = check.run_step(connection)?;
                Ok((check, result))
            });
            let (checked, result) = checked.await?;
            match result {
                SchemaCheckStep::Passed => return Ok(length),
                SchemaCheckStep::Conflict(conflict) => return Err(conflict.into()),
                SchemaCheckStep::Unfinished => check = checked,
            }
        }
    }
}

/// A check of stored events against a new schema, in steps.
#[derive(Debug)]
pub(super) struct StoredEventsCheck {
    pub(super) event_type: EventType,
    pub(super) schema: Arc<EventSchema>,
    pub(super) next: u64,
    pub(super) last: u64,
    /// The most work for one step, if the check ends with an error beyond it.
    pub(super) limit: Option<u64>,
}

/// The result of one step.
#[derive(Debug)]
pub(super) enum SchemaCheckStep {
    /// All events follow the schema.
    Passed,
    Conflict(SchemaConflict),
    /// There are more events to check.
    Unfinished,
}

impl StoredEventsCheck {
    pub(super) fn run_step(
        &mut self,
        connection: &Connection,
    ) -> Result<SchemaCheckStep, SqliteError> {
        if self.next > self.last {
            return Ok(SchemaCheckStep::Passed);
        }
        let end = self.next.saturating_add(STEP);
        let mut statement = connection.prepare_cached(select!(
            "WHERE id >= ?1 AND id < ?2 AND type = ?3 ORDER BY id"
        ))?;
        let (first, last) = (row::number(self.next), row::number(end));
        let mut rows = statement.query((first, last, self.event_type.as_str()))?;
        let mut work = 0_u64;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            row_checksum::read_checked(row)?;
            let data = row.get_ref(9)?.as_str();
            let data =
                serde_json::from_str(data.map_err(|error| SqliteError::flawed_event(id, error))?);
            let data: &serde_json::value::RawValue =
                data.map_err(|error| SqliteError::flawed_event(id, error))?;
            let id = row::to_event_id(id)?;
            let steps = self
                .limit
                .map_or(WorkBudget::WRITE, |limit| limit.saturating_sub(work));
            let mut budget = WorkBudget::of(steps);
            if let Err(conflict) = self.schema.check_event(id, data, &mut budget) {
                return Ok(SchemaCheckStep::Conflict(conflict));
            }
            work = work.saturating_add(steps.saturating_sub(budget.left()));
            if work > STEP_WORK {
                self.next = id.get().saturating_add(1);
                return Ok(SchemaCheckStep::Unfinished);
            }
        }
        self.next = end;
        Ok(SchemaCheckStep::Unfinished)
    }
}
