//! The options of read-events and observe-events.

use serde::Deserialize;

use super::{
    strict_body::{OptionalMember, OptionalObject},
    values::{OptionalText, parse_event_id, parse_event_type, parse_subject},
};
use crate::{api_error::ApiError, error_code::ErrorCode, read_range::check_bounds};
use es_store::{Bound, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, ReadOptions};

/// The options of a read.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct StrictReadOptions {
    recursive: OptionalMember<bool>,
    order: OptionalText,
    lower_bound: OptionalObject<StrictBound>,
    upper_bound: OptionalObject<StrictBound>,
    from_latest_event: OptionalObject<StrictLatestEvent>,
}

/// The options of an observation, which is always chronological and without an end.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct StrictObserveOptions {
    recursive: OptionalMember<bool>,
    lower_bound: OptionalObject<StrictBound>,
    from_latest_event: OptionalObject<StrictLatestEvent>,
}

/// The options of requests that have only the option `recursive`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StrictRecursiveOptions {
    recursive: OptionalMember<bool>,
}

/// A bound of the event ids.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StrictBound {
    id: OptionalText,
    r#type: OptionalText,
}

/// The event to start from: the latest one of a subject and type.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct StrictLatestEvent {
    subject: OptionalText,
    r#type: OptionalText,
    if_event_is_missing: OptionalText,
}

impl StrictRecursiveOptions {
    pub(super) fn is_recursive(&self) -> bool {
        self.recursive.0.unwrap_or_default()
    }
}

impl StrictReadOptions {
    /// Converts the options, and rejects invalid values.
    pub(super) fn into_read_options(self) -> Result<ReadOptions, ApiError> {
        let order = match self.order.0.as_deref() {
            None | Some("chronological") => Order::Chronological,
            Some("antichronological") => Order::Antichronological,
            Some(other) => return Err(unknown(ErrorCode::OrderUnknown, "order", other)),
        };
        let options = ReadOptions {
            recursive: self.recursive.0.unwrap_or_default(),
            order,
            lower_bound: convert_bound(self.lower_bound)?,
            upper_bound: convert_bound(self.upper_bound)?,
            from_latest_event: convert_latest(self.from_latest_event, "read-nothing")?,
            ..ReadOptions::default()
        };
        options.check()?;
        check_bounds(options.lower_bound, options.upper_bound)?;
        Ok(options)
    }
}

impl StrictObserveOptions {
    /// Converts the options, and rejects invalid values.
    pub(super) fn into_observe_options(self) -> Result<ObserveOptions, ApiError> {
        let options = ObserveOptions {
            recursive: self.recursive.0.unwrap_or_default(),
            lower_bound: convert_bound(self.lower_bound)?,
            from_latest_event: convert_latest(self.from_latest_event, "wait-for-event")?,
        };
        options.check()?;
        check_bounds(options.lower_bound, None)?;
        Ok(options)
    }
}

/// Converts a bound.
fn convert_bound(bound: OptionalObject<StrictBound>) -> Result<Option<Bound>, ApiError> {
    let Some(bound) = bound.into_object() else {
        return Ok(None);
    };
    let id = parse_event_id(bound.id)?;
    match bound.r#type.0.as_deref() {
        Some("inclusive") => Ok(Some(Bound::Inclusive(id))),
        Some("exclusive") => Ok(Some(Bound::Exclusive(id))),
        None | Some("") => {
            let text = "type of a bound is missing";
            Err(ApiError::of_code(ErrorCode::BoundTypeMissing, text))
        }
        Some(other) => Err(unknown(
            ErrorCode::BoundTypeUnknown,
            "type of a bound",
            other,
        )),
    }
}

/// Converts the event to start from. `nothing` is the word for a start that does not exist.
fn convert_latest(
    latest: OptionalObject<StrictLatestEvent>,
    nothing: &str,
) -> Result<Option<FromLatestEvent>, ApiError> {
    let Some(latest) = latest.into_object() else {
        return Ok(None);
    };
    let is_missing = |text: &OptionalText| text.0.as_deref().is_none_or(str::is_empty);
    let members = [&latest.subject, &latest.r#type, &latest.if_event_is_missing];
    if members.into_iter().any(is_missing) {
        let text = "fromLatestEvent needs subject, type and ifEventIsMissing";
        return Err(ApiError::of_code(
            ErrorCode::FromLatestEventIncomplete,
            text,
        ));
    }
    let if_missing = match latest.if_event_is_missing.0.unwrap_or_default() {
        text if text == "read-everything" => IfEventIsMissing::ReadEverything,
        text if text == nothing => IfEventIsMissing::Nothing,
        other => {
            let code = ErrorCode::IfEventIsMissingUnknown;
            return Err(unknown(code, "ifEventIsMissing", &other));
        }
    };
    Ok(Some(FromLatestEvent {
        subject: parse_subject(latest.subject)?,
        event_type: parse_event_type(latest.r#type)?,
        if_missing,
    }))
}

/// Returns the error for an unknown word.
fn unknown(code: ErrorCode, name: &str, value: &str) -> ApiError {
    ApiError::of_code(code, format!("{name} is unknown")).with_detail("value", value)
}
