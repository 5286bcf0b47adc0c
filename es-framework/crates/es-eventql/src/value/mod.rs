//! The values of expressions.

mod compare;
mod elements;
mod json;

use std::sync::Arc;

use jiff::{
    Timestamp,
    civil::{Date, Time},
};
use serde_json::value::RawValue;

use super::{ast::Literal, query_budget::RowBudget, query_error::QueryErrorKind};
use es_event::{DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};

pub(super) use compare::compare_numbers;
use elements::Elements;
pub(super) use json::encode_row;

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
    Array(Arc<Elements<Self>>),
    Record(Arc<Elements<(Arc<str>, Self)>>),
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

    /// Creates an array.
    pub(super) fn from_items(items: Vec<Self>) -> Self {
        Self::Array(Arc::new(Elements::from_items(items)))
    }

    /// Creates a record.
    pub(super) fn from_fields(fields: Vec<(Arc<str>, Self)>) -> Self {
        Self::Record(Arc::new(Elements::from_fields(fields)))
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
    /// Fails if the data nests too deeply or contains a number that no float can represent, or if the
    /// run reached its limit of time or memory.
    pub(super) fn decode(self, budget: &RowBudget<'_>) -> Result<Self, QueryErrorKind> {
        if !self.has_raw_json() {
            return Ok(self);
        }
        let decode = |value: &Self| -> Result<_, QueryErrorKind> {
            if value.has_raw_json() {
                return value.clone().decode(budget);
            }
            budget.add(value.size())?;
            Ok(value.clone())
        };
        match self {
            Self::Json(raw) => json::parse(&raw, budget),
            Self::Data(event) => json::parse(&event.data, budget),
            Self::Event(event) => {
                let field = |name: &&str| -> Result<_, QueryErrorKind> {
                    Ok(((*name).into(), decode(&event_field(&event, name))?))
                };
                let fields: Result<_, _> = EVENT_FIELDS.iter().map(field).collect();
                Ok(Self::from_fields(fields?))
            }
            Self::Array(items) => {
                let items: Result<_, _> = items.iter().map(decode).collect();
                Ok(Self::from_items(items?))
            }
            Self::Record(fields) => {
                let field = |(name, value): &(Arc<str>, Self)| -> Result<_, QueryErrorKind> {
                    Ok((Arc::clone(name), decode(value)?))
                };
                let fields: Result<_, _> = fields.iter().map(field).collect();
                Ok(Self::from_fields(fields?))
            }
            plain => Ok(plain),
        }
    }

    fn has_raw_json(&self) -> bool {
        match self {
            Self::Array(items) => items.has_raw_json(),
            Self::Record(fields) => fields.has_raw_json(),
            Self::Event(_) | Self::Data(_) | Self::Json(_) => true,
            _ => false,
        }
    }

    /// Returns the levels of arrays and records. Raw JSON counts as one value.
    pub(super) fn depth(&self) -> u16 {
        match self {
            Self::Array(items) => items.depth(),
            Self::Record(fields) => fields.depth(),
            _ => 0,
        }
    }

    /// Estimates the size in bytes. What several parts of the value share counts for each of them, as in
    /// the JSON of the value.
    pub(super) fn size(&self) -> usize {
        let inner = match self {
            Self::Text(text) => text.len(),
            Self::Array(items) => items.size(),
            Self::Record(fields) => fields.size(),
            Self::Event(event) | Self::Data(event) => event_size(event),
            Self::Json(raw) => raw.get().len(),
            _ => 0,
        };
        inner.saturating_add(SMALLEST_SIZE)
    }
}

/// The size of a value without parts, in bytes.
const SMALLEST_SIZE: usize = 48;

fn event_size(event: &RecordedEvent) -> usize {
    let texts = [
        event.data.get(),
        &event.source,
        event.subject.as_str(),
        event.event_type.as_str(),
    ];
    let lengths = texts.iter().map(|text| text.len());
    lengths.fold(600, usize::saturating_add)
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
