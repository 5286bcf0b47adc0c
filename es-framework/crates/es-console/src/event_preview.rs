//! The part of an event that lists show. An event can have megabytes, so a list never holds whole events.

use es_event::{EventId, EventTime, EventType, RecordedEvent, Subject};
use maud::Markup;

use crate::json_view;

/// An event in a list, with the beginning of its data.
#[derive(Debug)]
pub(crate) struct EventPreview {
    pub(crate) id: EventId,
    pub(crate) time: EventTime,
    pub(crate) event_type: EventType,
    pub(crate) subject: Subject,
    /// The first tokens of the data, as HTML.
    pub(crate) data: Markup,
}

impl EventPreview {
    /// Creates the preview of an event with this number of tokens of its data.
    pub(crate) fn new(event: &RecordedEvent, tokens: usize) -> Self {
        Self {
            id: event.id,
            time: event.time.clone(),
            event_type: event.event_type.clone(),
            subject: event.subject.clone(),
            data: json_view::short(payload(event), tokens),
        }
    }
}

/// Returns the payload of an event, or all of its data if another application wrote it.
pub(crate) fn payload(event: &RecordedEvent) -> &str {
    match event.raw_payload() {
        Ok(payload) => payload.get(),
        Err(_) => event.data.get(),
    }
}
