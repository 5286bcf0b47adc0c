//! Converts values from JSON and to JSON.

use std::{fmt, io, sync::Arc};

use serde::{
    Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::value::RawValue;

use super::{SMALLEST_SIZE, Value};
use crate::{query_budget::RowBudget, query_error::QueryErrorKind, query_limits::MAX_ROW_LENGTH};
use es_event::{DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};

/// The largest whole float that is written without a fraction.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Decodes JSON text into a value, and counts all parts of the value. The text `[0,0]` has two bytes for
/// each item, but the array has many more.
pub(super) fn parse(raw: &RawValue, budget: &RowBudget<'_>) -> Result<Value, QueryErrorKind> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    match ValueSeed(budget).deserialize(&mut deserializer) {
        Ok(value) => Ok(value),
        Err(error) => Err(budget.check().err().unwrap_or_else(|| unreadable(error))),
    }
}

/// Encodes a result row.
///
/// # Errors
/// Fails if the row is too long, or contains a number that JSON does not have.
pub(crate) fn encode_row(value: &Value) -> Result<Box<RawValue>, QueryErrorKind> {
    // A character has at most six bytes in JSON, as in `\u0001`, so only a large value can be too long.
    if value.size() > MAX_ROW_LENGTH / 8 {
        let counted = serde_json::to_writer(RowLength(0), value);
        if counted.is_err_and(|error| error.is_io()) {
            let limit = MAX_ROW_LENGTH;
            return Err(QueryErrorKind::RowLength { limit });
        }
    }
    serde_json::value::to_raw_value(value).map_err(unreadable)
}

/// Counts the bytes of a row, and fails if there are too many.
struct RowLength(usize);

impl io::Write for RowLength {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        if self.0 > MAX_ROW_LENGTH {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the last member of this name, or null.
pub(super) fn find_member(object: &RawValue, name: &str) -> Result<Value, QueryErrorKind> {
    if !object.get().starts_with('{') {
        return Ok(Value::Null);
    }
    let mut deserializer = serde_json::Deserializer::from_str(object.get());
    let found = deserializer.deserialize_map(MemberVisitor(name));
    Ok(found
        .map_err(unreadable)?
        .map_or(Value::Null, decode_scalar_or_raw))
}

/// Returns the element at this index, or null.
pub(super) fn find_element(array: &RawValue, index: usize) -> Result<Value, QueryErrorKind> {
    if !array.get().starts_with('[') {
        return Ok(Value::Null);
    }
    let mut deserializer = serde_json::Deserializer::from_str(array.get());
    let found = deserializer.deserialize_seq(NthElementVisitor(index));
    Ok(found
        .map_err(unreadable)?
        .map_or(Value::Null, decode_scalar_or_raw))
}

fn unreadable(error: serde_json::Error) -> QueryErrorKind {
    let reason = error.to_string().into();
    QueryErrorKind::Data { reason }
}

/// Decodes a scalar if encoding it again would give the same text. Otherwise keeps the raw JSON.
fn decode_scalar_or_raw(raw: &RawValue) -> Value {
    let text = raw.get();
    match text.as_bytes().first() {
        // A string can contain half a surrogate pair. Such a string can be copied but not decoded.
        Some(b'"') => serde_json::from_str(text).ok().map(Value::Text),
        Some(b't') => Some(Value::Bool(true)),
        Some(b'f') => Some(Value::Bool(false)),
        Some(b'n') => Some(Value::Null),
        Some(b'{' | b'[') => None,
        _ => text.parse().ok().filter(|_| text != "-0").map(Value::Int),
    }
    .unwrap_or_else(|| Value::Json(raw.to_owned().into()))
}

/// Finds the raw JSON of the member with this name.
struct MemberVisitor<'n>(&'n str);

impl<'de> Visitor<'de> for MemberVisitor<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = map.next_key_seed(KeyEquals(self.0))? {
            if is_it {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Compares a key with a name without allocating.
struct KeyEquals<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for KeyEquals<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyEquals<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == self.0)
    }
}

/// Finds the raw JSON of the element at this index.
struct NthElementVisitor(usize);

impl<'de> Visitor<'de> for NthElementVisitor {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        for _ in 0..self.0 {
            if items.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = items.next_element()?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

/// Decodes a whole JSON value, and counts its parts.
#[derive(Clone, Copy)]
struct ValueSeed<'a>(&'a RowBudget<'a>);

impl ValueSeed<'_> {
    fn count<E: serde::de::Error>(self, value: Value) -> Result<Value, E> {
        self.0.add(value.size()).map_err(E::custom)?;
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.count(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        self.count(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.count(Value::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        // Integers above 63 bits become the nearest float.
        self.count(i64::try_from(value).map_or_else(|_| Value::Float(value as f64), Value::Int))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        self.count(Value::Float(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.count(Value::from_text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.0.add(SMALLEST_SIZE).map_err(A::Error::custom)?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::from_items(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        self.0.add(SMALLEST_SIZE).map_err(A::Error::custom)?;
        let mut fields: Vec<(Arc<str>, Value)> = Vec::new();
        while let Some(name) = map.next_key::<Arc<str>>()? {
            let size = name.len().saturating_add(SMALLEST_SIZE);
            self.0.add(size).map_err(A::Error::custom)?;
            fields.push((name, map.next_value_seed(self)?));
        }
        last_of_each_name(&mut fields);
        Ok(Value::from_fields(fields))
    }
}

/// Retains the last value of a repeated name, as other JSON parsers do.
fn last_of_each_name(fields: &mut Vec<(Arc<str>, Value)>) {
    let mut seen = std::collections::HashSet::new();
    fields.reverse();
    fields.retain(|(name, _)| seen.insert(Arc::clone(name)));
    fields.reverse();
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serialize_float(*value, serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Date(date) => serializer.collect_str(date),
            Self::Time(time) => serializer.collect_str(time),
            Self::DateTime(time) => serializer.collect_str(time),
            Self::Array(items) => {
                let mut sequence = serializer.serialize_seq(Some(items.len()))?;
                for item in &***items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Self::Record(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in &***fields {
                    map.serialize_entry(&**name, value)?;
                }
                map.end()
            }
            Self::Event(event) => serialize_event(event, serializer),
            Self::Data(event) => event.data.serialize(serializer),
            Self::Json(raw) => raw.serialize(serializer),
        }
    }
}

/// Writes a whole float as 35 instead of 35.0, because some clients do not parse 35.0 as an
/// integer.
fn serialize_float<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() <= MAX_EXACT {
        // The value is whole and in range.
        #[allow(clippy::cast_possible_truncation)]
        return serializer.serialize_i64(value as i64);
    }
    serializer.serialize_f64(value)
}

/// Writes the members in the order of the event stream. A test compares both.
fn serialize_event<S: Serializer>(event: &RecordedEvent, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("source", &event.source)?;
    map.serialize_entry("subject", &event.subject)?;
    map.serialize_entry("type", &event.event_type)?;
    if let Some(trace) = &event.trace {
        map.serialize_entry("traceparent", trace.parent())?;
        if let Some(state) = trace.state() {
            map.serialize_entry("tracestate", state)?;
        }
    }
    map.serialize_entry("specversion", SPEC_VERSION)?;
    map.serialize_entry("id", &event.id)?;
    map.serialize_entry("time", &event.time)?;
    map.serialize_entry("datacontenttype", DATA_CONTENT_TYPE)?;
    map.serialize_entry("predecessorhash", &event.predecessor_hash)?;
    map.serialize_entry("data", &event.data)?;
    map.serialize_entry("hash", &event.hash)?;
    map.serialize_entry("signature", &())?;
    map.end()
}
