//! An event of another system as a line of JSON, and the checks that it passes before it is written.

use std::{borrow::Cow, sync::Arc};

use es_event::{checked_json::check_members, time_text::check_time};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    catalog::Catalog,
    event::{EventCandidate, EventType, Metadata, Subject, encode},
};

/// The subjects of the framework's own events.
const OWN_SUBJECTS: &str = "/es-framework";

/// The members of a CloudEvent that an import reads.
#[derive(Deserialize)]
struct CloudEventLine<'a> {
    #[serde(borrow)]
    specversion: Option<Cow<'a, str>>,
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    subject: Subject,
    /// The time at which it happened.
    time: Option<Timestamp>,
    /// The same as an extension attribute, which comes first: `time` may be that of an export.
    occurredat: Option<Timestamp>,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// Checks events against the declarations of an application.
pub(super) struct EventChecker<'a> {
    catalog: &'a Catalog,
    source: Arc<str>,
    now: Timestamp,
}

impl<'a> EventChecker<'a> {
    pub(super) fn new(catalog: &'a Catalog, source: impl Into<Arc<str>>) -> Self {
        Self {
            catalog,
            source: source.into(),
            now: Timestamp::now(),
        }
    }

    pub(super) fn source(&self) -> Arc<str> {
        Arc::clone(&self.source)
    }

    /// Returns the event of a line, or what is wrong with it.
    pub(super) fn parse_line(&self, line: &[u8]) -> Result<EventCandidate, String> {
        let line: CloudEventLine<'_> =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if line.specversion.is_some_and(|version| version != "1.0") {
            return Err("specversion: the version of CloudEvents is 1.0".to_owned());
        }
        let own = OWN_SUBJECTS.parse::<Subject>();
        if own.is_ok_and(|own| line.subject.is_within(&own)) {
            return Err(format!("subject: {OWN_SUBJECTS} belongs to the framework"));
        }
        let parsed_type = line.r#type.parse::<EventType>();
        let event_type = parsed_type.map_err(|error| format!("type: {error}"))?;
        let declared = self
            .catalog
            .events()
            .iter()
            .find(|declared| declared.event_type == event_type.as_str())
            .ok_or_else(|| format!("type: the application declares no event {event_type}"))?;
        check_members(line.data).map_err(|error| format!("data: {error}"))?;
        let payload =
            (declared.recode)(line.data.get()).map_err(|error| format!("data: {error}"))?;
        let given: Value =
            serde_json::from_str(line.data.get()).map_err(|error| error.to_string())?;
        if let Some(member) = find_lost_member(&given, &payload) {
            return Err(format!("data: {event_type} has no member {member}"));
        }
        let occurred = line.occurredat.or(line.time);
        let metadata = self.metadata(occurred)?;
        let candidate = EventCandidate {
            source: self.source(),
            subject: line.subject,
            event_type,
            data: encode(&metadata, &payload).map_err(|error| error.to_string())?,
            trace: None,
        };
        let checked = self.catalog.upcasters().check_candidate(&candidate);
        checked.map_err(|error| error.to_string())?;
        Ok(candidate)
    }

    fn metadata(&self, occurred: Option<Timestamp>) -> Result<Metadata, String> {
        let Some(time) = occurred else {
            return Ok(Metadata::default());
        };
        check_time(time).map_err(|rule| format!("time: {rule}"))?;
        if time > self.now {
            return Err(format!("time: {time} is in the future"));
        }
        Ok(Metadata::default().with_occurred_at(time))
    }
}

/// Returns the place of a member that the declaration of an event does not have, so that it would be lost.
fn find_lost_member(given: &Value, kept: &Value) -> Option<String> {
    match (given, kept) {
        (Value::Object(given), Value::Object(kept)) => given.iter().find_map(|(name, value)| {
            let lost = match kept.get(name) {
                Some(kept) => find_lost_member(value, kept)?,
                None if value.is_null() => return None,
                None => String::new(),
            };
            Some(format!("/{name}{lost}"))
        }),
        (Value::Array(given), Value::Array(kept)) => {
            let mut pairs = given.iter().zip(kept).enumerate();
            pairs.find_map(|(index, (given, kept))| {
                Some(format!("/{index}{}", find_lost_member(given, kept)?))
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_that_would_be_lost_is_found() {
        let kept = json!({ "a": [{ "b": 1 }], "c": null });
        assert_eq!(
            find_lost_member(&json!({ "a": [{ "b": 1.0 }] }), &kept),
            None
        );
        assert_eq!(find_lost_member(&json!({ "d": null }), &kept), None);
        let lost = find_lost_member(&json!({ "a": [{ "x": 1 }] }), &kept);
        assert_eq!(lost.as_deref(), Some("/a/0/x"));
    }
}
