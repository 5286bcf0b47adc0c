//! The two dialects of the event store protocol.

/// One of the two JSON shapes in which servers of the protocol send events.
///
/// ```
/// use es_framework::event::{Dialect, EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent};
/// # use serde_json::{json, value::to_raw_value};
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
/// #     data: to_raw_value(&json!({"payload": {}}))?,
/// #     trace: None,
/// # };
/// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
///
/// let mut line = Vec::new();
/// Dialect::Item.write_line(&event, None, &mut line);
/// assert!(line.starts_with(br#"{"type":"item","payload":{"event":{"#));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// `{"type":"item","payload":{"event":{…},"hash":"…"}}`: event stores before version 1.0.
    #[default]
    Item,
    /// `{"type":"event","payload":{…,"hash":"…","signature":null}}`: event stores from version 1.0.
    Event,
}
