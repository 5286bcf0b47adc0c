//! How an application's event lies in the data of a stored event: `{"metadata":{},"payload":{…}}`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{EventType, RecordedEvent};

/// What travels with an event beside its payload: texts by name. Empty unless the application says
/// which headers of a request go there.
///
/// ```
/// use es_framework::event::Metadata;
///
/// let metadata: Metadata = [("x-staff-id", "ada")].into_iter().collect();
/// assert_eq!(metadata.get("x-staff-id"), Some("ada"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// The text of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The same with this text under this name, instead of one that was there.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.insert(name.into(), text.into());
        self
    }

    /// All names and texts, in the order of the names.
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

#[derive(Serialize)]
struct Encoded<'a, P> {
    metadata: &'a Metadata,
    payload: &'a P,
}

#[derive(Deserialize)]
struct Accompanied {
    #[serde(default)]
    metadata: Metadata,
}

/// Read in one pass with its payload.
#[derive(Deserialize)]
struct Whole<P> {
    payload: P,
}

#[derive(Deserialize)]
struct Decoded<'a> {
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// An event whose stored data is not what its declaration says.
///
/// ```
/// # use es_framework::{event::{EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent}, prelude::*};
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
/// #     data: es_framework::event::encode(&Metadata::default(), &serde_json::json!({ "why": "torn" }))?,
/// #     trace: None,
/// # };
/// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// #[derive(Event)]
/// struct BookRemovedEvent {
///     reason: String,
/// }
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
    /// What an upcaster made of it.
    read_as: Option<Box<str>>,
    reason: serde_json::Error,
}

fn upcast(read_as: &Option<Box<str>>) -> String {
    let upcast = |event_type| format!(", upcast to {event_type},");
    read_as.as_deref().map(upcast).unwrap_or_default()
}

/// The data of a candidate: metadata and payload in one compact JSON object.
///
/// ```
/// use es_framework::event::{Metadata, encode};
///
/// let metadata = Metadata::default().with("x-staff-id", "ada");
/// let data = encode(&metadata, &["torn"])?;
/// assert_eq!(data.get(), r#"{"metadata":{"x-staff-id":"ada"},"payload":["torn"]}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
///
/// # Errors
/// The payload cannot be JSON, such as a map with keys that are no texts.
pub fn encode<P: Serialize>(
    metadata: &Metadata,
    payload: &P,
) -> Result<Box<RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(&Encoded { metadata, payload })
}

impl RecordedEvent {
    /// The application's event inside the stored one.
    ///
    /// # Errors
    /// The data lacks a payload or the payload is of another shape.
    pub fn payload<P: DeserializeOwned>(&self) -> Result<P, DecodeError> {
        self.decoded(serde_json::from_str::<Whole<P>>(self.data.get()))
            .map(|whole| whole.payload)
    }

    /// The application's event inside the stored one, as JSON text.
    ///
    /// # Errors
    /// The data lacks a payload.
    pub fn raw_payload(&self) -> Result<&RawValue, DecodeError> {
        self.decoded(serde_json::from_str::<Decoded<'_>>(self.data.get()))
            .map(|decoded| decoded.payload)
    }

    /// What travels with the event; nothing where another application wrote something else there.
    #[must_use]
    pub fn metadata(&self) -> Metadata {
        let accompanied = serde_json::from_str::<Accompanied>(self.data.get());
        accompanied.map(|one| one.metadata).unwrap_or_default()
    }

    fn decoded<T>(&self, result: serde_json::Result<T>) -> Result<T, DecodeError> {
        self.decoded_as(None, result)
    }

    /// Names the event where a result about it is an error; `read_as` is what an upcaster made of
    /// it.
    pub(super) fn decoded_as<T>(
        &self,
        read_as: Option<&str>,
        result: serde_json::Result<T>,
    ) -> Result<T, DecodeError> {
        result.map_err(|reason| DecodeError {
            id: self.id,
            event_type: self.event_type.clone(),
            read_as: read_as.map(Into::into),
            reason,
        })
    }
}
