//! The codes of the errors of version 2.

use serde::Serialize;

/// The page of each code describes it.
const CODES: &str = "https://docs.eventsourcingdb.io/errors/";

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
    pub(super) fn url(self) -> String {
        let slug = serde_json::to_value(self).unwrap_or_default();
        format!("{CODES}{}", slug.as_str().unwrap_or_default())
    }
}
