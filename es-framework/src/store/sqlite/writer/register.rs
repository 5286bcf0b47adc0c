//! Registering a schema: the events that nobody checked yet, then the row.

use std::sync::Arc;

use super::Writer;
use crate::{
    event::EventType,
    store::{
        RegisterError,
        sqlite::{
            catalogue::{Existing, Found},
            error::Failure,
            queue::Register,
        },
    },
};

impl Writer {
    pub(super) fn register(&mut self, register: Register) {
        let outcome = self.try_register(&register);
        let _ = register.answer.send(outcome);
    }

    fn try_register(&mut self, register: &Register) -> Result<(), RegisterError> {
        let Register {
            event_type, schema, ..
        } = register;
        let file = self.shared.file.clone();
        self.refresh().map_err(|error| error.at(&file))?;
        self.shared.catalogue().is_free(event_type)?;
        self.check_newest(register)?;
        let inserted = self.insert_schema(event_type, schema.json().get());
        inserted.map_err(|failure| {
            self.has_failed("a schema was not registered", &failure);
            // Whether or not it will be found at the next start, asking again is safe: who has it
            // registered already is told so.
            failure.error.at(&file)
        })?;
        let schema = Arc::clone(schema);
        let event_type = event_type.clone();
        let shared = Arc::clone(&self.shared);
        Ok(shared.change_catalogue(|catalogue| catalogue.register(event_type, schema))?)
    }

    /// Those that came after the caller had looked at all others, off this thread.
    fn check_newest(&self, register: &Register) -> Result<(), RegisterError> {
        let newest = self.head.next.and_then(|next| next.get().checked_sub(1));
        let mut existing = Existing {
            event_type: register.event_type.clone(),
            schema: Arc::clone(&register.schema),
            next: register.unchecked,
            last: newest.unwrap_or_default(),
        };
        loop {
            let found = existing.check_some(&self.connection);
            match found.map_err(|error| error.at(&self.shared.file))? {
                Found::Nothing => return Ok(()),
                Found::Conflict(conflict) => return Err(conflict.into()),
                Found::NotYet => {}
            }
        }
    }

    fn insert_schema(&mut self, event_type: &EventType, schema: &str) -> Result<(), Failure> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let inserted = self.connection.execute(
            "INSERT INTO event_schemas (type, schema) VALUES (?1, ?2)",
            (event_type.as_str(), schema),
        );
        inserted.inspect_err(|_| self.roll_back())?;
        self.commit()
    }
}
