//! The form of personal values in stored events: `{"$sealed":{"of":…,"value":…,"erased":…}}`.

use std::{borrow::Cow, collections::HashMap, ops::Range, sync::Arc};

use es_event::{
    EventCandidate, EventDescriptor, EventType, RecordedEvent, UnreadablePayload,
    personal::{self, MARK, MarkedObject, PersonalValue, SEAL},
};
use ring::error::Unspecified;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};
use uuid::Uuid;

use crate::{
    cipher::{OpenBuffer, PersonKey, ValuePlace},
    key_store::KeyStoreError,
};

type MarkPersonal = fn(&str) -> Result<String, UnreadablePayload>;

/// The declared events that hold personal data.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct PersonalEvents(HashMap<&'static str, MarkPersonal>);

impl PersonalEvents {
    /// Selects the events with personal data.
    pub fn select<'a>(events: impl IntoIterator<Item = &'a EventDescriptor>) -> Self {
        let events = events.into_iter();
        let personal = events.filter(|event| event.has_personal_data());
        Self(
            personal
                .map(|event| (event.event_type, event.mark_personal))
                .collect(),
        )
    }

    /// Returns true if no event holds personal data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if this type of event may hold personal data.
    #[must_use]
    pub fn contains(&self, event_type: &str) -> bool {
        self.0.contains_key(event_type)
    }

    /// Returns true if the application seals values in events of this type. Idempotency records belong to them.
    pub(crate) fn may_be_sealed(&self, event_type: &EventType) -> bool {
        self.contains(event_type.as_str()) || event_type.as_str() == COMMAND_RECORD
    }
}

/// The error of sealing or opening an event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// The person is erased.
    #[error("the personal data of {0} is erased, and no more is stored")]
    Erased(Uuid),
    /// The key store fails.
    #[error(transparent)]
    KeyStore(#[from] KeyStoreError),
    /// The key store has no key of the person.
    #[error(
        "the key store has no key of its person: let KEY_STORE_URL name the key store with which it was sealed, or restore it from a newer copy"
    )]
    UnknownPerson,
    /// The event cannot be sealed, or was changed or moved after it was.
    #[error("{0}")]
    Invalid(String),
}

impl From<serde_json::Error> for SealError {
    fn from(error: serde_json::Error) -> Self {
        Self::Invalid(format!("its JSON is malformed: {error}"))
    }
}

impl From<Unspecified> for SealError {
    fn from(_: Unspecified) -> Self {
        Self::Invalid("the cipher failed".to_owned())
    }
}

/// Data of an event, as the application writes it.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// A value that has to be sealed.
#[derive(Debug)]
pub(crate) struct MarkedValue {
    span: Range<usize>,
    path: String,
    pub(crate) person: Uuid,
    erased: String,
    value: String,
}

/// A mark in the JSON of an event.
#[derive(Deserialize)]
struct Mark<'a>(#[serde(borrow)] PersonalValue<String, &'a RawValue>);

/// A candidate whose personal values are marked.
#[derive(Debug)]
pub(crate) struct MarkedData {
    data: String,
    pub(crate) values: Vec<MarkedValue>,
}

impl PersonalEvents {
    /// Marks the personal values in the data of an event. Returns `None` if it has none.
    pub(crate) fn mark(
        &self,
        event_type: &EventType,
        data: &RawValue,
    ) -> Result<Option<MarkedData>, SealError> {
        reject_seals(data.get())?;
        let Some(mark) = self.0.get(event_type.as_str()) else {
            return Ok(None);
        };
        let Envelope { metadata, payload } = serde_json::from_str(data.get())?;
        // The reason of the error may quote a value.
        let marked = mark(payload.get()).map_err(|UnreadablePayload { path, .. }| {
            let message = format!("the payload cannot be read at /{}", path.join("/"));
            SealError::Invalid(message)
        })?;
        let data = format!(r#"{{"metadata":{metadata},"payload":{marked}}}"#);
        let objects = personal::find_marked(&data, MARK)?.into_iter();
        let values = objects
            .map(MarkedValue::from_object)
            .collect::<Result<Vec<_>, _>>()?;
        Ok((!values.is_empty()).then_some(MarkedData { data, values }))
    }
}

/// The members of an idempotency record that may tell something about the person of its command.
#[derive(Deserialize)]
struct IdempotencyRecordMembers<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    #[serde(borrow)]
    reply: &'a RawValue,
}

/// The type of idempotency records.
pub(crate) const COMMAND_RECORD: &str = "io.es-framework.CommandHandledEvent";

/// Marks the reply and the digest of the request in the idempotency record of a command about a person.
pub(crate) fn mark_command_record(
    candidate: &EventCandidate,
    person: Uuid,
) -> Result<MarkedData, SealError> {
    let data = candidate.data.get();
    let Envelope { payload, .. } = serde_json::from_str(data)?;
    let IdempotencyRecordMembers { request, reply } = serde_json::from_str(payload.get())?;
    let members = [("request", request, "\"\""), ("reply", reply, "null")];
    let marked = members.map(|(name, value, erased)| {
        let address = value.get().as_ptr().addr();
        let start = address.saturating_sub(data.as_ptr().addr());
        MarkedValue {
            span: start..start.saturating_add(value.get().len()),
            path: format!("/payload/{name}"),
            person,
            erased: erased.to_owned(),
            value: value.get().to_owned(),
        }
    });
    let mut values = Vec::from(marked);
    values.sort_by_key(|value| value.span.start);
    Ok(MarkedData {
        data: data.to_owned(),
        values,
    })
}

/// Refuses data in which a client wrote what looks like a sealed value.
fn reject_seals(data: &str) -> Result<(), SealError> {
    match personal::find_marked::<IgnoredAny>(data, SEAL)?.first() {
        Some(MarkedObject { path, .. }) => {
            let message = format!("{path} looks like a sealed value");
            Err(SealError::Invalid(message))
        }
        None => Ok(()),
    }
}

impl MarkedValue {
    /// Reads a mark.
    fn from_object(object: MarkedObject<'_, Mark<'_>>) -> Result<Self, SealError> {
        let Ok(Mark(mark)) = &object.body else {
            let message = format!("{} looks like a marked value", object.path);
            return Err(SealError::Invalid(message));
        };
        let id = object.sibling(&mark.of).and_then(|id| id.parse().ok());
        let person = id.ok_or_else(|| {
            let message = format!("{} names nobody in `{}`", object.path, mark.of);
            SealError::Invalid(message)
        })?;
        Ok(Self {
            person,
            erased: mark.erased.get().to_owned(),
            value: mark.value.get().to_owned(),
            span: object.span,
            path: object.path,
        })
    }
}

impl MarkedValue {
    /// Returns true if the value equals its replacement.
    pub(crate) fn is_erased(&self) -> bool {
        self.value == self.erased
    }

    /// Returns true if the value is at a path or below it.
    pub(crate) fn is_in(&self, path: &str) -> bool {
        let rest = self.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the path and the value.
    pub(crate) fn into_plain(self) -> Result<(String, Value), SealError> {
        Ok((self.path, serde_json::from_str(&self.value)?))
    }
}

fn place<'a>(event: &'a RecordedEvent, path: &'a str) -> ValuePlace<'a> {
    ValuePlace {
        event_type: event.event_type.as_str(),
        subject: event.subject.as_str(),
        path,
    }
}

impl MarkedData {
    /// Replaces each mark by the sealed value.
    pub(crate) fn seal(
        self,
        candidate: &EventCandidate,
        keys: &HashMap<Uuid, Arc<PersonKey>>,
    ) -> Result<Box<RawValue>, SealError> {
        let Self { data, values } = self;
        let mut parts = Vec::new();
        for MarkedValue {
            span,
            path,
            person,
            erased,
            value,
        } in values
        {
            let sealed = if value == erased {
                value
            } else {
                let place = ValuePlace {
                    event_type: candidate.event_type.as_str(),
                    subject: candidate.subject.as_str(),
                    path: &path,
                };
                let key = keys.get(&person).ok_or(SealError::UnknownPerson)?;
                let value = key.seal(&value, place)?;
                format!(r#"{{"{SEAL}":{{"of":"{person}","value":"{value}","erased":{erased}}}}}"#)
            };
            parts.push((span, sealed));
        }
        Ok(RawValue::from_string(personal::splice(&data, parts))?)
    }
}

/// A sealed value in the data of a stored event.
#[derive(Debug)]
pub(crate) struct SealedValue<'a> {
    span: Range<usize>,
    pub(crate) path: String,
    pub(crate) person: Uuid,
    value: Cow<'a, str>,
    erased: &'a str,
}

/// Returns the sealed values in the data of an event. An object of another form is none: who writes events without the
/// application may store any.
pub(crate) fn sealed_values(data: &str) -> Result<Vec<SealedValue<'_>>, SealError> {
    #[derive(Deserialize)]
    struct Seal<'a> {
        of: Uuid,
        #[serde(borrow)]
        value: Cow<'a, str>,
        #[serde(borrow)]
        erased: &'a RawValue,
    }
    let sealed = personal::find_marked::<Seal<'_>>(data, SEAL)?.into_iter();
    let values = sealed.filter_map(|object| {
        let Seal { of, value, erased } = object.body.ok()?;
        Some(SealedValue {
            span: object.span,
            path: object.path,
            person: of,
            value,
            erased: erased.get(),
        })
    });
    Ok(values.collect())
}

/// Replaces each sealed value in the data of an event by this JSON, or by its own replacement. Returns `None` if there are none.
pub(crate) fn redact(data: &str, shown: Option<&str>) -> Result<Option<Box<RawValue>>, SealError> {
    let values = sealed_values(data)?;
    if values.is_empty() {
        return Ok(None);
    }
    let parts = values.into_iter().map(|value| {
        let replacement = shown.unwrap_or(value.erased).to_owned();
        (value.span, replacement)
    });
    Ok(Some(RawValue::from_string(personal::splice(data, parts))?))
}

/// Opens the sealed values of events. Its buffer serves one value after the other.
#[derive(Default)]
pub(crate) struct ValueOpener(OpenBuffer);

impl ValueOpener {
    /// Returns the JSON that a value holds.
    pub(crate) fn open_value(
        &mut self,
        event: &RecordedEvent,
        value: &SealedValue<'_>,
        key: &PersonKey,
    ) -> Result<&str, SealError> {
        let place = place(event, &value.path);
        let opened = key.open(&value.value, place, &mut self.0);
        opened.map_err(|_| {
            let path = &value.path;
            SealError::Invalid(format!("{path} does not open: it was changed or moved"))
        })
    }

    /// Replaces sealed values by what they hold, or by their replacement if `find_key` returns no key. Returns `None` if there
    /// are none.
    pub(crate) fn open_event<'k>(
        &mut self,
        event: &RecordedEvent,
        values: &[SealedValue<'_>],
        find_key: impl Fn(Uuid) -> Result<Option<&'k PersonKey>, SealError>,
    ) -> Result<Option<Box<RawValue>>, SealError> {
        if values.is_empty() {
            return Ok(None);
        }
        let data = event.data.get();
        let mut opened = String::with_capacity(data.len());
        let mut copied = 0;
        for value in values {
            opened.push_str(data.get(copied..value.span.start).unwrap_or_default());
            opened.push_str(match find_key(value.person)? {
                None => value.erased,
                Some(key) => self.open_value(event, value, key)?,
            });
            copied = value.span.end;
        }
        opened.push_str(data.get(copied..).unwrap_or_default());
        Ok(Some(RawValue::from_string(opened)?))
    }
}
