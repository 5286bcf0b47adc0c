//! The details of a health report that clients get. Operators see all of them at `/actuator/projections` and
//! `/actuator/reactions`.

use serde_json::Value;

/// Removes from details what they tell of single rows and events, which may be those of another client.
pub(super) fn hide_single_events(details: &mut Value) {
    match details {
        Value::Object(members) => {
            let is_about_events = members.contains_key("fingerprint")
                || members.get("event").is_some_and(|event| !event.is_null());
            if is_about_events {
                // The error may quote a value.
                for member in ["error", "subject", "someKeys"] {
                    members.remove(member);
                }
            }
            members.values_mut().for_each(hide_single_events);
        }
        Value::Array(items) => items.iter_mut().for_each(hide_single_events),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use es_event::{EventId, EventType, PoisonEvent};
    use es_subscribe::{
        HeldKey, HeldKeyKind, HeldKeys, SubscriberFailure, SubscriberProgress,
        operator::ComponentKind, status::ComponentStatus,
    };
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_client_does_not_see_whose_rows_are_held_and_at_which_event_a_read_model_stopped() {
        let poison = PoisonEvent {
            id: EventId::FIRST,
            subject: Some("/readers/ada".parse().unwrap()),
            event_type: Some(EventType::declared("com.example.LoanOpenedEvent")),
            reason: "ada is no date".to_owned(),
        };
        let progress = SubscriberProgress::new(ComponentKind::ReadModel, "loans");
        let held = HeldKey::new(
            HeldKeyKind::Row,
            "ada",
            poison.clone(),
            Timestamp::UNIX_EPOCH,
        );
        progress.record_held_keys(HeldKeys::from_iter([held]));
        progress.record_failure(SubscriberFailure::from(poison));
        let mut details = serde_json::json!(ComponentStatus::new(&progress, None));
        assert!(details.to_string().contains("ada"));
        hide_single_events(&mut details);
        assert!(!details.to_string().contains("ada"), "{details}");
        assert_eq!(details["held"]["keys"], 1);
        assert_eq!(details["held"]["failures"][0]["events"], 1);
        assert_eq!(details["state"], "stopped");
    }

    #[test]
    fn a_client_sees_why_a_database_does_not_answer() {
        let details = serde_json::json!({ "error": "connection refused", "event": null });
        let mut shown = details.clone();
        hide_single_events(&mut shown);
        assert_eq!(shown, details);
    }
}
