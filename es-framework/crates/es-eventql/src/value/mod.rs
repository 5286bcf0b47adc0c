//! The values of expressions.

mod compare;
mod json;

use std::sync::Arc;

use jiff::{
    Timestamp,
    civil::{Date, Time},
};
use serde_json::value::RawValue;

use super::{ast::Literal, query_error::QueryErrorKind};
use es_event::{DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};

pub(super) use compare::compare_numbers;

/// A value of an expression. Cloning is cheap.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// A finite float.
    Float(f64),
    Text(Arc<str>),
    Date(Date),
    Time(Time),
    DateTime(Timestamp),
    Array(Arc<[Self]>),
    Record(Arc<[(Arc<str>, Self)]>),
    /// A whole event.
    Event(Arc<RecordedEvent>),
    /// The whole data of an event.
    Data(Arc<RecordedEvent>),
    /// A part of an event's data as raw JSON: an array, an object, or a scalar that would have another
    /// text after decoding and encoding. [`Value::decode`] decodes it.
    Json(Arc<RawValue>),
}

impl Value {
    /// Creates a text.
    pub(super) fn from_text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Returns the kind of the value for error messages.
    pub(super) fn kind_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::Date(_) => "a date",
            Self::Time(_) => "a time",
            Self::DateTime(_) => "a datetime",
            Self::Array(_) => "an array",
            Self::Record(_) | Self::Event(_) | Self::Data(_) => "a record",
            Self::Json(raw) => match raw.get().as_bytes().first() {
                Some(b'[') => "an array",
                Some(b'{') => "a record",
                Some(b'"') => "a string",
                _ => "a number",
            },
        }
    }

    /// Returns a member of a record or an object, or null.
    ///
    /// # Errors
    /// Fails if the data is not valid text.
    pub(super) fn member(&self, name: &str) -> Result<Self, QueryErrorKind> {
        match self {
            Self::Record(fields) => {
                let mut fields = fields.iter().rev();
                let found = fields.find(|(field, _)| &**field == name);
                Ok(found.map_or(Self::Null, |(_, value)| value.clone()))
            }
            Self::Event(event) => Ok(event_field(event, name)),
            Self::Data(event) => json::find_member(&event.data, name),
            Self::Json(raw) => json::find_member(raw, name),
            _ => Ok(Self::Null),
        }
    }

    /// Returns an array element by its index from 0, or null.
    ///
    /// # Errors
    /// Fails if the data is not valid text.
    pub(super) fn element(&self, index: i64) -> Result<Self, QueryErrorKind> {
        let Ok(index) = usize::try_from(index) else {
            return Ok(Self::Null);
        };
        match self {
            Self::Array(items) => Ok(items.get(index).cloned().unwrap_or(Self::Null)),
            Self::Json(raw) => json::find_element(raw, index),
            _ => Ok(Self::Null),
        }
    }

    /// Decodes all raw JSON inside the value.
    ///
    /// # Errors
    /// Fails if the data nests too deeply or contains a number that no float can represent.
    pub(super) fn decode(self) -> Result<Self, QueryErrorKind> {
        match self {
            Self::Json(raw) => json::parse(&raw),
            Self::Data(event) => json::parse(&event.data),
            Self::Event(event) => {
                let field = |name: &&str| -> Result<_, QueryErrorKind> {
                    Ok(((*name).into(), event_field(&event, name).decode()?))
                };
                let fields: Result<Vec<_>, _> = EVENT_FIELDS.iter().map(field).collect();
                Ok(Self::Record(fields?.into()))
            }
            Self::Array(items) => {
                let items: Result<Vec<_>, _> = items.iter().cloned().map(Self::decode).collect();
                Ok(Self::Array(items?.into()))
            }
            Self::Record(fields) => {
                let field = |(name, value): &(Arc<str>, Self)| -> Result<_, QueryErrorKind> {
                    Ok((Arc::clone(name), value.clone().decode()?))
                };
                let fields: Result<Vec<_>, _> = fields.iter().map(field).collect();
                Ok(Self::Record(fields?.into()))
            }
            plain => Ok(plain),
        }
    }

    /// Estimates the size in bytes.
    pub(super) fn size(&self) -> usize {
        let inner = match self {
            Self::Text(text) => text.len(),
            Self::Array(items) => items.iter().map(Self::size).fold(0, usize::saturating_add),
            Self::Record(fields) => fields
                .iter()
                .map(|(name, value)| value.size().saturating_add(name.len()))
                .fold(0, usize::saturating_add),
            Self::Event(event) | Self::Data(event) => event.data.get().len().saturating_add(400),
            Self::Json(raw) => raw.get().len(),
            _ => 0,
        };
        inner.saturating_add(48)
    }
}

/// The fields of every event, in the order of the protocol's documentation.
const EVENT_FIELDS: [&str; 13] = [
    "specversion",
    "id",
    "time",
    "source",
    "subject",
    "type",
    "datacontenttype",
    "data",
    "predecessorhash",
    "hash",
    "traceparent",
    "tracestate",
    "signature",
];

fn event_field(event: &Arc<RecordedEvent>, name: &str) -> Value {
    let trace = event.trace.as_ref();
    match name {
        "specversion" => Value::from_text(SPEC_VERSION),
        "id" => Value::Text(event.id.to_string().into()),
        "time" => Value::from_text(event.time.as_str()),
        "source" => Value::Text(Arc::clone(&event.source)),
        "subject" => Value::from_text(event.subject.as_str()),
        "type" => Value::from_text(event.event_type.as_str()),
        "datacontenttype" => Value::from_text(DATA_CONTENT_TYPE),
        "data" => Value::Data(Arc::clone(event)),
        "predecessorhash" => Value::Text(event.predecessor_hash.to_string().into()),
        "hash" => Value::Text(event.hash.to_string().into()),
        "traceparent" => trace.map_or(Value::Null, |trace| Value::from_text(trace.parent())),
        "tracestate" => trace
            .and_then(|trace| trace.state())
            .map_or(Value::Null, Value::from_text),
        // The server signs events when it sends them, so queries see no signature.
        _ => Value::Null,
    }
}

impl From<&Literal> for Value {
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(value) => Self::Bool(*value),
            Literal::Int(value) => Self::Int(*value),
            Literal::Float(value) => Self::Float(*value),
            Literal::Text(text) => Self::Text(Arc::clone(text)),
        }
    }
}
