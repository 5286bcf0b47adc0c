//! Events as JSON, for the messages of failed tests.

use serde_json::Value;

use es_event::Subject;

/// Returns the subject, type and payload of an event as JSON.
pub(crate) fn event_to_json(
    subject: &Subject,
    event_type: &str,
    payload: &str,
) -> Result<Value, serde_json::Error> {
    let payload: Value = serde_json::from_str(payload)?;
    Ok(serde_json::json!({"subject": subject, "type": event_type, "payload": payload}))
}
