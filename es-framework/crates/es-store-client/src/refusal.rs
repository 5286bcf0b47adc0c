//! The meaning of error responses to writes and registrations.

use reqwest::StatusCode;

use super::http_client::StoreHttpClient;
use es_event::StreamFailure;
use es_store::{SchemaConflict, StoreError};

/// Returns whether an error status guarantees that the server has written nothing.
pub(super) fn is_definite(status: StatusCode) -> bool {
    status.is_client_error()
        || status.is_redirection()
        || matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE
        )
}

/// Returns the error that a failure of version 2 stands for.
pub(super) fn store_error(http_client: &StoreHttpClient, failure: &StreamFailure) -> StoreError {
    let text = http_client.printable(&failure.description);
    match failure.short_code() {
        "disk-full" | "capacity-exceeded" => StoreError::Full(text),
        "store-failed"
        | "server-shutting-down"
        | "indexes-rebuilding"
        | "restore-in-progress"
        | "store-read-only" => http_client.unavailable(text),
        code => {
            let code = http_client.printable(code);
            StoreError::Refused(format!("{code}: {text}"))
        }
    }
}

/// Returns the schema conflict that a failure of version 2 reports, if it reports one.
pub(super) fn schema_failure(failure: &StreamFailure) -> Option<SchemaConflict> {
    match failure.short_code() {
        "event-schema-already-registered" => Some(SchemaConflict::Exists),
        "event-schema-violated" if failure.details.get("maxSteps").is_some() => {
            Some(SchemaConflict::TooMuchWork)
        }
        "event-schema-violated" => {
            let text = |name: &str| failure.details.get(name)?.as_str();
            let reason = text("reason").unwrap_or(&failure.description).to_owned();
            Some(match text("eventId").and_then(|id| id.parse().ok()) {
                Some(id) => SchemaConflict::Event { id, reason },
                None => SchemaConflict::Candidate(reason),
            })
        }
        _ => None,
    }
}

/// Parses the schema conflict that an error response reports, if it reports one.
pub(super) fn schema_conflict(status: StatusCode, text: &str) -> Option<SchemaConflict> {
    let (_, conflict) = text.split_once("schema conflict: ")?;
    if status != StatusCode::CONFLICT {
        return None;
    }
    if conflict.starts_with("schema already exists") {
        return Some(SchemaConflict::Exists);
    }
    if let Some(reason) = conflict.strip_prefix("event candidate does not match schema: ") {
        return Some(SchemaConflict::Candidate(reason.to_owned()));
    }
    if conflict.starts_with("the check against a schema needs more than") {
        return Some(SchemaConflict::TooMuchWork);
    }
    if conflict.starts_with("there is no room for another schema") {
        return Some(SchemaConflict::TooManySchemas);
    }
    let (id, reason) = conflict.strip_prefix("event with ID ")?.split_once(": ")?;
    let (id, reason) = (id.parse().ok()?, reason.to_owned());
    Some(SchemaConflict::Event { id, reason })
}
