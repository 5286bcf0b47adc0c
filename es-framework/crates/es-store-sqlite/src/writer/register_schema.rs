//! Registration of a schema: the writer checks the newest events and inserts the schema.

use std::sync::Arc;

use super::EventWriter;
use crate::{
    database_error::BatchFailure,
    schema_check::{SchemaCheckStep, StoredEventsCheck},
};
use es_event::EventType;
use es_store::{
    RegisterError,
    event_row::compute_schema_checksum,
    write::{SchemaRegistration, WRITER_STEPS},
};

impl EventWriter {
    pub(super) fn register_schema(&mut self, registration: SchemaRegistration) {
        let outcome = self.try_register(&registration);
        let _ = registration.answer.send(outcome);
    }

    fn try_register(&mut self, registration: &SchemaRegistration) -> Result<(), RegisterError> {
        let SchemaRegistration {
            event_type, schema, ..
        } = registration;
        let file = self.shared.file.clone();
        self.refresh()
            .and_then(|()| self.shared.check_open(&self.connection))
            .map_err(|error| error.to_store_error(&file))?;
        self.shared
            .catalogue()
            .check_new_schema(event_type, schema)?;
        self.check_newest(registration)?;
        let inserted = self.insert_schema(event_type, schema.json().get());
        inserted.map_err(|failure| {
            self.record_failure("a schema was not registered", &failure);
            failure.to_register_error(&file)
        })?;
        let schema = Arc::clone(schema);
        let event_type = event_type.clone();
        let shared = Arc::clone(&self.shared);
        shared.modify_catalogue(|catalogue| catalogue.register_schema(event_type, schema))?;
        Ok(())
    }

    /// Checks the events that were stored after the caller checked all others outside this thread.
    fn check_newest(&self, registration: &SchemaRegistration) -> Result<(), RegisterError> {
        let newest = self.head.next.and_then(|next| next.get().checked_sub(1));
        let mut check = StoredEventsCheck {
            event_type: registration.event_type.clone(),
            schema: Arc::clone(&registration.schema),
            next: registration.unchecked,
            last: newest.unwrap_or_default(),
            limit: Some(WRITER_STEPS),
        };
        loop {
            let step = check.run_step(&self.connection);
            match step.map_err(|error| error.to_store_error(&self.shared.file))? {
                SchemaCheckStep::Passed => return Ok(()),
                SchemaCheckStep::Conflict(conflict) => return Err(conflict.into()),
                SchemaCheckStep::Unfinished => {}
            }
        }
    }

    fn insert_schema(&mut self, event_type: &EventType, schema: &str) -> Result<(), BatchFailure> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let inserted = self.connection.execute(
            "INSERT INTO event_schemas (type, schema, checksum) VALUES (?1, ?2, ?3)",
            (
                event_type.as_str(),
                schema,
                compute_schema_checksum(event_type, schema),
            ),
        );
        inserted.inspect_err(|_| self.roll_back())?;
        self.commit()
    }
}
