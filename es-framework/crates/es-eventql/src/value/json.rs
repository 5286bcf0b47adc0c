//! Converts values from JSON and to JSON.

use std::{fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::value::RawValue;

use super::Value;
use crate::query_error::QueryErrorKind;
use es_event::{DATA_CONTENT_TYPE, RecordedEvent, SPEC_VERSION};

/// The largest whole float that is written without a fraction.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Decodes JSON text into a value.
pub(super) fn parse(raw: &RawValue) -> Result<Value, QueryErrorKind> {
    serde_json::from_str(raw.get()).map_err(unreadable)
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
        Some(b'"' | b't' | b'f' | b'n') => parse(raw).ok(),
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

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Decodes a whole JSON value.
struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // Integers above 63 bits become the nearest float.
        Ok(i64::try_from(value).map_or_else(|_| Value::Float(value as f64), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from_text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields: Vec<(Arc<str>, Value)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<Arc<str>, Value>()? {
            fields.push((name, value));
        }
        last_of_each_name(&mut fields);
        Ok(Value::Record(fields.into()))
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
                for item in &**items {
                    sequence.serialize_element(item)?;
                }
                sequence.end()
            }
            Self::Record(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in &**fields {
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
