//! Events that the store has not recorded yet.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{EventType, Subject, TraceContext};

/// An event that a command decided on. The store assigns the rest: see
/// [`RecordedEvent`](super::RecordedEvent).
///
/// ```
/// use es_event::{EventCandidate, EventType, Metadata, encode};
///
/// let candidate = EventCandidate {
///     source: "library-service".into(),
///     subject: "/books/42".parse()?,
///     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
///     data: encode(&Metadata::default(), &["torn"])?,
///     trace: None,
/// };
/// assert_eq!(candidate.data.get(), r#"{"metadata":{},"payload":["torn"]}"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventCandidate {
    /// The application or URI that publishes the event.
    pub source: Arc<str>,
    /// The subject of the event.
    pub subject: Subject,
    /// The type of the event.
    pub event_type: EventType,
    /// A JSON object in compact form. The store saves and hashes these exact bytes.
    pub data: Box<RawValue>,
    /// The trace that the event belongs to.
    pub trace: Option<TraceContext>,
}

/// The error for event data that cannot be stored.
///
/// ```
/// use es_event::compact_object;
/// use serde_json::value::RawValue;
///
/// let list = RawValue::from_string("[1]".to_owned())?;
/// let error = compact_object(&list).unwrap_err();
/// assert_eq!(error.to_string(), "an event's data is a JSON object, not an array");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an event's data is a JSON object, not {found}")]
pub struct InvalidData {
    found: &'static str,
}

/// Removes the white space between the JSON tokens of an event's data. Numbers, strings and the
/// order of members do not change.
///
/// # Errors
/// Fails if the value is not an object.
///
/// ```
/// use es_event::compact_object;
/// use serde_json::value::RawValue;
///
/// let given = RawValue::from_string(r#"{ "price": 1.50 }"#.to_owned())?;
/// assert_eq!(compact_object(&given)?.get(), r#"{"price":1.50}"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn compact_object(data: &RawValue) -> Result<Box<RawValue>, InvalidData> {
    let text = data.get().trim_ascii();
    match text.as_bytes().first() {
        Some(b'{') => {}
        Some(b'[') => return Err(InvalidData { found: "an array" }),
        Some(b'"') => return Err(InvalidData { found: "a string" }),
        Some(b'n') => return Err(InvalidData { found: "null" }),
        Some(b't' | b'f') => return Err(InvalidData { found: "a boolean" }),
        _ => return Err(InvalidData { found: "a number" }),
    }
    let Some(compact) = without_white_space(data.get()) else {
        // Most clients send compact data. A copy of a checked value is not checked again.
        return Ok(data.to_owned());
    };
    // The input was valid JSON, and removing white space between tokens keeps it valid.
    RawValue::from_string(compact).map_err(|_| InvalidData {
        found: "malformed JSON",
    })
}

/// Removes the white space between JSON tokens. Returns `None` if there is none.
fn without_white_space(text: &str) -> Option<String> {
    let mut compact: Option<String> = None;
    let mut copied = 0;
    let (mut in_string, mut escaped) = (false, false);
    for (index, byte) in text.bytes().enumerate() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            let compact = compact.get_or_insert_with(|| String::with_capacity(text.len()));
            compact.push_str(text.get(copied..index).unwrap_or_default());
            copied = index.saturating_add(1);
        } else {
            in_string = byte == b'"';
        }
    }
    if let Some(compact) = &mut compact {
        compact.push_str(text.get(copied..).unwrap_or_default());
    }
    compact
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn white_space_goes_and_everything_else_stays() {
        let given = raw("{ \"b\" : [ 1.50 , true ],\n \"a\": \"x \\\" { \\\\\" }");
        let compact = compact_object(&given).unwrap();
        assert_eq!(compact.get(), r#"{"b":[1.50,true],"a":"x \" { \\"}"#);
        assert_eq!(compact_object(&compact).unwrap().get(), compact.get());
    }

    #[test]
    fn only_objects_are_data() {
        for (text, found) in [
            ("[]", "an array"),
            ("null", "null"),
            ("1", "a number"),
            ("\"a\"", "a string"),
            ("true", "a boolean"),
        ] {
            assert_eq!(compact_object(&raw(text)).unwrap_err().found, found);
        }
    }

    proptest! {
        #[test]
        fn compacting_a_pretty_text_gives_the_compact_text(texts in proptest::collection::btree_map(".*", ".*", 0..5)) {
            let pretty = raw(&serde_json::to_string_pretty(&texts).unwrap());
            let compact = serde_json::to_string(&texts).unwrap();
            let compacted = compact_object(&pretty).unwrap();
            prop_assert_eq!(compacted.get(), compact);
        }
    }
}
