//! The envelope of an application's event inside the stored data: `{"metadata":{},"payload":{…}}`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{EventType, RecordedEvent, json_numbers};

/// The name of the time at which an event happened. No request header becomes metadata of this name, because the names of
/// headers are in lower case.
const OCCURRED_AT: &str = "occurredAt";

/// Named strings that are stored beside an event's payload. The application chooses the request
/// headers that become metadata.
///
/// ```
/// use es_event::Metadata;
///
/// let metadata: Metadata = [("x-staff-id", "ada")].into_iter().collect();
/// assert_eq!(metadata.get("x-staff-id"), Some("ada"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// Returns the string with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Adds a string under this name and replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.insert(name.into(), text.into());
        self
    }

    /// Adds the time at which the event happened, if that was before it was recorded.
    ///
    /// ```
    /// use es_event::Metadata;
    /// use jiff::Timestamp;
    ///
    /// let then: Timestamp = "2019-03-01T10:00:00Z".parse()?;
    /// let metadata = Metadata::default().with_occurred_at(then);
    /// assert_eq!(metadata.occurred_at(), Some(then));
    /// assert_eq!(metadata.without_occurred_at(), Metadata::default());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_occurred_at(self, time: Timestamp) -> Self {
        self.with(OCCURRED_AT, time.to_string())
    }

    /// Removes the time at which the event happened.
    #[must_use]
    pub fn without_occurred_at(mut self) -> Self {
        self.0.remove(OCCURRED_AT);
        self
    }

    /// Returns the time at which the event happened, if its command or its import said so.
    /// [`RecordedEvent::occurred_at`] returns the time of the event store otherwise.
    #[must_use]
    pub fn occurred_at(&self) -> Option<Timestamp> {
        self.get(OCCURRED_AT)?.parse().ok()
    }

    /// Iterates over all names and strings, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

impl<N: Into<String>, T: Into<String>> FromIterator<(N, T)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(texts: I) -> Self {
        let texts = texts.into_iter();
        Self(
            texts
                .map(|(name, text)| (name.into(), text.into()))
                .collect(),
        )
    }
}

/// The data of an event, to serialize.
#[derive(Serialize)]
struct EnvelopeRef<'a, P> {
    metadata: &'a Metadata,
    payload: &'a P,
}

/// The data of an event, of which only the metadata is read.
#[derive(Deserialize)]
struct MetadataOnly {
    #[serde(default)]
    metadata: Metadata,
}

/// The data of an event, of which only the payload is read.
#[derive(Deserialize)]
pub(super) struct PayloadOnly<P> {
    pub(super) payload: P,
}

/// The data of an event, of which only the payload is read, as raw JSON.
#[derive(Deserialize)]
struct RawPayloadOnly<'a> {
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// The error for stored data that does not fit the declaration of its event.
///
/// ```
/// # use es_event::{Declaration, Event, EventCandidate, EventId, EventTime, EventType, Hash, Metadata, RecordedEvent};
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
/// #     data: es_event::encode(&Metadata::default(), &serde_json::json!({ "why": "torn" }))?,
/// #     trace: None,
/// # };
/// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
/// # impl Event for BookRemovedEvent {
/// #     const TYPE: &str = "com.example.library.BookRemovedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// // What was stored holds another member.
/// let error = event.payload::<BookRemovedEvent>().err().map(|error| error.to_string());
/// assert!(error.is_some_and(|error| error.contains("does not fit its declaration")));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error("event {id} of type {event_type}{} does not fit its declaration: {reason}", upcast(.read_as))]
pub struct DecodeError {
    id: super::EventId,
    event_type: EventType,
    /// The type that an upcaster gave to the event.
    read_as: Option<Box<str>>,
    reason: String,
}

fn upcast(read_as: &Option<Box<str>>) -> String {
    let upcast = |event_type| format!(", upcast to {event_type},");
    read_as.as_deref().map(upcast).unwrap_or_default()
}

/// Serializes metadata and payload into one compact JSON object, the data of an event candidate.
///
/// ```
/// use es_event::{Metadata, encode};
///
/// let metadata = Metadata::default().with("x-staff-id", "ada");
/// let data = encode(&metadata, &["torn"])?;
/// assert_eq!(data.get(), r#"{"metadata":{"x-staff-id":"ada"},"payload":["torn"]}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
///
/// # Errors
/// Fails if the payload has no JSON form, for example a map whose keys are not strings.
pub fn encode<P: Serialize>(
    metadata: &Metadata,
    payload: &P,
) -> Result<Box<RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(&EnvelopeRef { metadata, payload })
}

impl RecordedEvent {
    /// Deserializes the payload, which is the application's event.
    ///
    /// # Errors
    /// Fails if the data has no payload, if the payload has another shape, or if a sealed value in it does not open.
    pub fn payload<P: DeserializeOwned>(&self) -> Result<P, DecodeError> {
        if let Some(reason) = &self.unopened {
            return self.decoded(Err(serde::de::Error::custom(reason)));
        }
        self.decoded(json_numbers::read_json::<PayloadOnly<P>>(self.data.get()))
            .map(|whole| whole.payload)
    }

    /// Returns the payload as JSON text, without the metadata that is stored beside it.
    ///
    /// # Errors
    /// Fails if the data has no payload.
    pub fn raw_payload(&self) -> Result<&RawValue, DecodeError> {
        self.decoded(serde_json::from_str::<RawPayloadOnly<'_>>(self.data.get()))
            .map(|decoded| decoded.payload)
    }

    /// Returns the metadata of the event. It is empty if another application stored the event without the
    /// envelope of the framework.
    #[must_use]
    pub fn metadata(&self) -> Metadata {
        let part = serde_json::from_str::<MetadataOnly>(self.data.get());
        part.map(|one| one.metadata).unwrap_or_default()
    }

    /// Returns the time at which the event happened: the one that its command or its import said, and otherwise the time
    /// at which the store recorded it.
    ///
    /// ```
    /// # use es_event::{EventCandidate, EventId, EventTime, EventType, Hash, Metadata, RecordedEvent};
    /// # use jiff::Timestamp;
    /// # let record = |metadata: &Metadata, now| Ok::<_, Box<dyn std::error::Error>>(RecordedEvent::record(EventCandidate {
    /// #     source: "library-service".into(),
    /// #     subject: "/books/42".parse()?,
    /// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
    /// #     data: es_event::encode(metadata, &())?,
    /// #     trace: None,
    /// # }, EventId::FIRST, now, Hash::ZERO));
    /// let then: Timestamp = "2019-03-01T10:00:00Z".parse()?;
    /// let imported = record(&Metadata::default().with_occurred_at(then), EventTime::now())?;
    /// assert_eq!(imported.occurred_at(), then);
    /// let other = record(&Metadata::default(), EventTime::now())?;
    /// assert_eq!(other.occurred_at(), other.time.timestamp()?);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn occurred_at(&self) -> Timestamp {
        let recorded = || self.time.timestamp();
        // A time that is read is checked, so the last choice never happens.
        let occurred = self.metadata().occurred_at().map_or_else(recorded, Ok);
        occurred.unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Adds the event's id and type to an error of deserialization.
    fn decoded<T>(&self, result: serde_json::Result<T>) -> Result<T, DecodeError> {
        self.add_context(None, result)
    }

    /// Adds the event's id and type to an error. `read_as` is the type that an upcaster gave to the
    /// event.
    pub(super) fn add_context<T>(
        &self,
        read_as: Option<&str>,
        result: serde_json::Result<T>,
    ) -> Result<T, DecodeError> {
        result.map_err(|reason| DecodeError {
            id: self.id,
            event_type: self.event_type.clone(),
            read_as: read_as.map(Into::into),
            reason: self.hide_values(reason.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventCandidate, EventId, EventTime, EventView, Hash};

    #[derive(Debug, PartialEq, Deserialize)]
    struct BookCount {
        pages: i128,
        kind: Kind,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "of")]
    enum Kind {
        Copies { number: u64 },
    }

    #[test]
    fn an_event_whose_integers_are_spelled_as_floats_can_be_read() {
        let payload = r#"{"pages":310.0,"kind":{"of":"Copies","number":1e3}}"#;
        let candidate = EventCandidate {
            source: "another-application".into(),
            subject: "/books/42".parse().unwrap(),
            event_type: EventType::declared("com.example.library.BookCountedEvent"),
            data: RawValue::from_string(format!(r#"{{"payload":{payload}}}"#)).unwrap(),
            trace: None,
        };
        let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
        let counted = BookCount {
            pages: 310,
            kind: Kind::Copies { number: 1_000 },
        };
        assert_eq!(event.payload::<BookCount>().unwrap(), counted);
        let upcast = RawValue::from_string(payload.to_owned()).unwrap();
        let view = EventView::from_upcast("com.example.library.Other", &upcast, &event);
        assert_eq!(view.payload::<BookCount>().unwrap(), counted);
    }
}
