//! The errors that version 2 sends with status 200: a code, a description and details.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::range_bounds::UnsatisfiableRange;
use es_eventql::{QueryError, QueryErrorKind};
use es_store::{Conflict, InvalidOptions, SchemaConflict, StoreError, schema::WorkBudget};

/// The page of each code describes it.
const CODES: &str = "https://docs.eventsourcingdb.io/errors/";

/// The text of a failure that concerns the credential of this server. A client cannot change it.
pub(super) const NO_STORE_ACCESS: &str = "the server has no access to its store";

/// The codes of errors that this server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ErrorCode {
    SubjectMissing,
    SubjectMalformed,
    OrderUnknown,
    EventIdMissing,
    EventIdMalformed,
    BoundTypeMissing,
    BoundTypeUnknown,
    RangeUnsatisfiable,
    FromLatestEventIncomplete,
    IfEventIsMissingUnknown,
    SelectionConflicting,
    EventTypeMissing,
    EventTypeMalformed,
    EventTypeUnknown,
    SourceMissing,
    SourceMalformed,
    DataMissing,
    DataMalformed,
    TraceparentMalformed,
    TracestateMalformed,
    TracestateWithoutTraceparent,
    EventsMissing,
    PreconditionTypeMissing,
    PreconditionUnknown,
    PreconditionViolated,
    PayloadMissing,
    CapacityExceeded,
    EventSchemaViolated,
    EventSchemaMissing,
    EventSchemaMalformed,
    EventSchemaNotObject,
    EventSchemaAlreadyRegistered,
    QueryMissing,
    QueryMalformed,
    QueryUnevaluable,
    QueryNotBoolean,
    DiskFull,
    StoreFailed,
    ServerShuttingDown,
}

impl ErrorCode {
    /// Returns the URL that stands for the code on the wire.
    fn url(self) -> String {
        let slug = serde_json::to_value(self).unwrap_or_default();
        format!("{CODES}{}", slug.as_str().unwrap_or_default())
    }
}

/// An error of version 2 that is no failure of the transport.
#[derive(Debug)]
pub(super) struct DomainError {
    code: ErrorCode,
    description: String,
    details: Map<String, Value>,
}

impl DomainError {
    pub(super) fn new(code: ErrorCode, description: impl Into<String>) -> Self {
        let description = description.into();
        Self {
            code,
            description,
            details: Map::new(),
        }
    }

    /// Adds a detail.
    pub(super) fn with_detail(mut self, name: &str, detail: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), detail.into());
        self
    }

    /// Returns the error of an observation that ends with the server.
    pub(super) fn for_shutdown() -> Self {
        let text = "the server is shutting down";
        Self::new(ErrorCode::ServerShuttingDown, text)
    }

    /// Returns the error of a query that cannot be parsed.
    pub(super) fn malformed_query(error: &QueryError) -> Self {
        Self::of_query(ErrorCode::QueryMalformed, error)
    }

    fn of_query(code: ErrorCode, error: &QueryError) -> Self {
        let description = Self::new(code, error.to_string());
        match error.start_token() {
            Some(token) => description
                .with_detail("line", json!(token.line))
                .with_detail("column", json!(token.column)),
            None => description,
        }
    }

    /// Returns the error as it is sent in an envelope.
    pub(super) fn payload(&self) -> impl Serialize {
        json!({
            "code": self.code.url(),
            "description": self.description,
            "details": self.details,
        })
    }
}

impl From<Conflict> for DomainError {
    fn from(conflict: Conflict) -> Self {
        let text = "precondition is violated";
        let error = Self::new(ErrorCode::PreconditionViolated, text);
        match conflict.precondition {
            Some(index) => error.with_detail("precondition", index),
            None => error,
        }
    }
}

impl From<SchemaConflict> for DomainError {
    fn from(conflict: SchemaConflict) -> Self {
        match conflict {
            SchemaConflict::Candidate(reason) => {
                let text = format!("event violates its schema: {reason}");
                Self::new(ErrorCode::EventSchemaViolated, text).with_detail("reason", reason)
            }
            SchemaConflict::Event { id, reason } => {
                let text = format!("event {id} violates the schema: {reason}");
                Self::new(ErrorCode::EventSchemaViolated, text)
                    .with_detail("eventId", id.to_string())
                    .with_detail("reason", reason)
            }
            SchemaConflict::Exists => {
                let text = "the event type has a schema already";
                Self::new(ErrorCode::EventSchemaAlreadyRegistered, text)
            }
            conflict @ SchemaConflict::TooMuchWork => {
                Self::new(ErrorCode::EventSchemaViolated, conflict.to_string())
                    .with_detail("maxSteps", WorkBudget::WRITE)
            }
            conflict @ SchemaConflict::TooManySchemas => {
                Self::new(ErrorCode::CapacityExceeded, conflict.to_string())
            }
        }
    }
}

impl From<InvalidOptions> for DomainError {
    fn from(error: InvalidOptions) -> Self {
        Self::new(ErrorCode::SelectionConflicting, error.to_string())
    }
}

impl From<UnsatisfiableRange> for DomainError {
    fn from(error: UnsatisfiableRange) -> Self {
        Self::new(ErrorCode::RangeUnsatisfiable, error.to_string())
    }
}

/// The error of a store that fails after the status was sent, or that certainly stored nothing.
impl From<&StoreError> for DomainError {
    fn from(error: &StoreError) -> Self {
        let code = match error {
            StoreError::Full(_) => ErrorCode::DiskFull,
            StoreError::Options(_) => ErrorCode::SelectionConflicting,
            StoreError::Unavailable { .. }
            | StoreError::KeyStore(_)
            | StoreError::Unauthorized { .. }
            | StoreError::Refused(_)
            | StoreError::Corrupt { .. } => ErrorCode::StoreFailed,
        };
        let description = match error {
            StoreError::Full(_) => "the disk is full".to_owned(),
            StoreError::Unauthorized { .. } => NO_STORE_ACCESS.to_owned(),
            error => error.to_string(),
        };
        Self::new(code, description)
    }
}

/// The error of a query that fails while it runs.
impl From<&QueryError> for DomainError {
    fn from(error: &QueryError) -> Self {
        match error.kind() {
            QueryErrorKind::Store(error) => error.into(),
            _ => Self::of_query(ErrorCode::QueryUnevaluable, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_url_of_its_code() {
        let error =
            DomainError::new(ErrorCode::EventTypeUnknown, "unknown").with_detail("value", "a.b");
        let expected = json!({
            "code": "https://docs.eventsourcingdb.io/errors/event-type-unknown",
            "description": "unknown",
            "details": {"value": "a.b"},
        });
        assert_eq!(serde_json::to_value(error.payload()).unwrap(), expected);
    }
}
