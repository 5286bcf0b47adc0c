//! The meaning of error responses to writes and registrations.

use reqwest::StatusCode;

use es_store::SchemaConflict;

/// Tells if an error status guarantees that the server has written nothing.
pub(super) fn is_definite(status: StatusCode) -> bool {
    status.is_client_error()
        || status.is_redirection()
        || matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE
        )
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
