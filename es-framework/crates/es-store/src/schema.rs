//! The JSON Schema that an event type's data has to follow, once it is registered.

#[cfg(not(feature = "schemas"))]
mod text_constants;

use std::{fmt, sync::Arc};

#[cfg(feature = "schemas")]
use es_schema::{CheckFailure, JsonSchema};
use serde_json::value::RawValue;
#[cfg(not(feature = "schemas"))]
use text_constants::{CheckFailure, JsonSchema};

use es_event::EventId;

/// The sentence of a program that cannot check events against schemas.
const NO_VALIDATOR: &str = "this program was compiled without the feature `schemas` of es-framework, which checks events against schemas";

/// A JSON Schema for the data of events.
///
/// ```
/// use es_store::EventSchema;
///
/// let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
/// assert!(EventSchema::parse(schema).is_ok());
/// assert!(EventSchema::parse(r#"{"type":"string"}"#).is_err());
/// ```
pub struct EventSchema(JsonSchema);

/// The error for a JSON value that is not a schema of events.
///
/// ```
/// use es_store::EventSchema;
///
/// let error = EventSchema::parse(r#"{"type":"string"}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"invalid schema: /type: value must be "object""#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid schema: {0}")]
pub struct InvalidSchema(String);

/// The data of a candidate or of a stored event contradicts a schema.
///
/// ```
/// use es_store::{EventSchema, SchemaConflict};
/// use serde_json::{json, value::to_raw_value};
///
/// let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
/// let (schema, data) = (EventSchema::parse(schema)?, to_raw_value(&json!({ "title": 42 }))?);
/// let conflict = schema.check(&data).map_err(SchemaConflict::Candidate).unwrap_err();
/// assert!(conflict.to_string().contains("expected string, but got number"), "{conflict}");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaConflict {
    /// A new event does not follow the schema.
    #[error("schema conflict: event candidate does not match schema: {0}")]
    Candidate(String),
    /// An event that was stored before the schema does not follow it.
    #[error("schema conflict: event with ID {id}: {reason}")]
    Event {
        /// The event.
        id: EventId,
        /// The message of the schema validator.
        reason: String,
    },
    /// The type already has a schema, and schemas never change.
    #[error("schema conflict: schema already exists")]
    Exists,
    /// A schema and the data of an event describe more work than the store does for one write.
    #[error(
        "schema conflict: the check against a schema needs more than {} steps: simplify the schema or \
         write less data at once",
        WorkBudget::WRITE
    )]
    TooMuchWork,
    /// The schemas of the store fill the memory that is reserved for them.
    #[error("schema conflict: there is no room for another schema")]
    TooManySchemas,
    /// This program lacks the feature `schemas`, so it cannot apply the schema.
    #[error("schema conflict: {NO_VALIDATOR}")]
    NoValidator,
}

/// The number of steps that are left for schema checks.
#[doc(hidden)]
#[derive(Debug)]
pub struct WorkBudget {
    steps: u64,
}

impl WorkBudget {
    /// The budget of all events of one write.
    pub const WRITE: u64 = 5_000_000;

    /// Creates a budget of this many steps.
    pub const fn of(steps: u64) -> Self {
        Self { steps }
    }

    /// The number of steps that are left.
    pub const fn left(&self) -> u64 {
        self.steps
    }
}

impl EventSchema {
    /// Parses a JSON Schema of events. It must describe objects and name their properties. Its references must stay
    /// inside the schema, and its patterns must be regular: without look-around and back-references.
    ///
    /// # Errors
    /// The text is not such a schema, or it is too large. A program without the feature `schemas` takes any JSON, and
    /// only an event store behind a URL, which checks the schema, registers it. Of schemas that only fix texts, as
    /// those of the framework do, such a program makes the checks itself.
    pub fn parse(json: &str) -> Result<Self, InvalidSchema> {
        JsonSchema::parse(json).map(Self).map_err(InvalidSchema)
    }

    /// Parses a schema that a store contains. Earlier versions registered larger schemas, and patterns
    /// that need back-tracking.
    ///
    /// # Errors
    /// The text is not a schema of events.
    #[doc(hidden)]
    pub fn parse_stored(json: &str) -> Result<Self, InvalidSchema> {
        JsonSchema::parse_stored(json)
            .map(Self)
            .map_err(InvalidSchema)
    }

    /// Returns the schema as JSON.
    #[must_use]
    pub fn json(&self) -> &RawValue {
        self.0.json()
    }

    /// Returns the same JSON, to share it.
    pub(crate) fn share_json(&self) -> Arc<RawValue> {
        Arc::clone(self.0.json())
    }

    /// Refuses a schema that this program cannot apply to events, because it lacks the feature `schemas`.
    pub(crate) fn check_applicable(&self) -> Result<(), SchemaConflict> {
        #[cfg(not(feature = "schemas"))]
        if !self.0.is_applicable() {
            return Err(SchemaConflict::NoValidator);
        }
        Ok(())
    }

    /// Returns the memory that the schema takes, by estimate.
    pub(crate) fn size(&self) -> usize {
        self.0.size()
    }

    /// Checks whether the data of an event follows the schema.
    ///
    /// # Errors
    /// The data does not follow the schema. The message names the rule and the place.
    pub fn check(&self, data: &RawValue) -> Result<(), String> {
        let checked = self.0.check(data, &mut { WorkBudget::WRITE });
        checked.map_err(|failure| match failure {
            CheckFailure::Mismatch(reason) => reason,
            CheckFailure::BudgetExceeded => SchemaConflict::TooMuchWork.to_string(),
        })
    }

    /// Checks the data of a candidate, and spends the steps of the check.
    pub(crate) fn check_candidate(
        &self,
        data: &RawValue,
        budget: &mut WorkBudget,
    ) -> Result<(), SchemaConflict> {
        let checked = self.0.check(data, &mut budget.steps);
        checked.map_err(|failure| match failure {
            CheckFailure::Mismatch(reason) => SchemaConflict::Candidate(reason),
            CheckFailure::BudgetExceeded => SchemaConflict::TooMuchWork,
        })
    }

    /// Checks the data of a stored event, and spends the steps of the check.
    ///
    /// # Errors
    /// The data does not follow the schema, or the budget is used up.
    #[doc(hidden)]
    pub fn check_event(
        &self,
        id: EventId,
        data: &RawValue,
        budget: &mut WorkBudget,
    ) -> Result<(), SchemaConflict> {
        let checked = self.0.check(data, &mut budget.steps);
        checked.map_err(|failure| match failure {
            CheckFailure::Mismatch(reason) => SchemaConflict::Event { id, reason },
            CheckFailure::BudgetExceeded => SchemaConflict::TooMuchWork,
        })
    }
}

impl fmt::Debug for EventSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventSchema").field(self.0.json()).finish()
    }
}
