//! Events as JSON, for the messages of failed tests.

use serde_json::Value;

use crate::difference::failed;
use es_command::command::{IntoDecision, UntypedDecision};
use es_event::{Metadata, Subject};

/// Returns the subject, type and payload of an event as JSON.
pub(crate) fn event_to_json(
    subject: &Subject,
    event_type: &str,
    payload: &str,
) -> Result<Value, serde_json::Error> {
    let payload: Value = serde_json::from_str(payload)?;
    Ok(serde_json::json!({"subject": subject, "type": event_type, "payload": payload}))
}

/// Formats the events that a test expects, on this subject unless they have their own.
#[track_caller]
pub(crate) fn expected_events_to_json(subject: Subject, events: impl IntoDecision) -> Vec<Value> {
    let mut decision = UntypedDecision::new(subject, Metadata::default());
    if let Err(error) = events.add_to(&mut decision) {
        failed(&error);
    }
    let (events, _) = decision.into_parts();
    let described = events.iter().map(|event| {
        let data: Value = serde_json::from_str(event.data.get())?;
        let payload = data.get("payload").cloned().unwrap_or_default();
        event_to_json(
            &event.subject,
            event.event_type.as_str(),
            &payload.to_string(),
        )
    });
    described
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| failed(&error))
}
