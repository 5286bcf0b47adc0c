//! Parses the values of requests. A missing or malformed value is a domain error.

use std::str::FromStr;

use super::strict_body::OptionalMember;
use crate::{api_error::ApiError, error_code::ErrorCode, written_subject::check_written_subject};
use es_event::{EventId, EventType, Subject};

/// A text member of a request.
pub(super) type OptionalText = OptionalMember<String>;

/// Parses a subject.
pub(super) fn parse_subject(text: OptionalText) -> Result<Subject, ApiError> {
    let codes = (ErrorCode::SubjectMissing, ErrorCode::SubjectMalformed);
    parse("subject", text, codes)
}

/// Parses the subject of a write.
pub(super) fn parse_written_subject(text: OptionalText) -> Result<Subject, ApiError> {
    let subject = parse_subject(text)?;
    check_written_subject(&subject).map_err(|error| {
        let text = format!("subject is malformed: {error}");
        let error = ApiError::of_code(ErrorCode::SubjectMalformed, text);
        error.with_detail("value", subject.as_str())
    })?;
    Ok(subject)
}

/// Parses an event type.
pub(super) fn parse_event_type(text: OptionalText) -> Result<EventType, ApiError> {
    let codes = (ErrorCode::EventTypeMissing, ErrorCode::EventTypeMalformed);
    parse("event type", text, codes)
}

/// Parses an event id.
pub(super) fn parse_event_id(text: OptionalText) -> Result<EventId, ApiError> {
    let codes = (ErrorCode::EventIdMissing, ErrorCode::EventIdMalformed);
    parse("event id", text, codes)
}

/// Parses a text. Fails with `missing` if there is no text, and with `malformed` if it cannot be parsed.
fn parse<T: FromStr<Err: std::fmt::Display>>(
    name: &str,
    text: OptionalText,
    (missing, malformed): (ErrorCode, ErrorCode),
) -> Result<T, ApiError> {
    let text = require(name, text, missing)?;
    text.parse().map_err(|error| {
        let description = format!("{name} is malformed: {error}");
        ApiError::of_code(malformed, description).with_detail("value", text)
    })
}

/// Returns a text that must not be missing or empty.
pub(super) fn require(
    name: &str,
    text: OptionalText,
    missing: ErrorCode,
) -> Result<String, ApiError> {
    let text = text.0.filter(|text| !text.is_empty());
    text.ok_or_else(|| ApiError::of_code(missing, format!("{name} is missing")))
}
