//! Implements `value AS TYPE`.

use jiff::{
    Timestamp,
    civil::{Date, Time},
    tz::TimeZone,
};

use super::number;
use crate::{ast::CastType, query_error::QueryErrorKind, value::Value};

/// Converts a value. Null stays null.
pub(super) fn cast(value: Value, to: CastType) -> Result<Value, QueryErrorKind> {
    if matches!(value, Value::Null) {
        return Ok(Value::Null);
    }
    let result = match to {
        CastType::Int => int(&value),
        CastType::Float => float(&value),
        CastType::String => string(&value).map(|text| Value::Text(text.into())),
        CastType::Bool => boolean(&value),
        CastType::Date => date(&value).map(Value::Date),
        CastType::Time => time(&value).map(Value::Time),
        CastType::DateTime => datetime(&value).map(Value::DateTime),
    };
    result.ok_or_else(|| QueryErrorKind::CannotConvert {
        value: value_for_message(&value),
        to: to.name(),
    })
}

/// Describes a value in an error message: the first characters of its text,
/// or its kind if it has no text.
pub(crate) fn value_for_message(value: &Value) -> Box<str> {
    match string(value) {
        Some(text) => {
            let head: String = text.chars().take(40).collect();
            let rest = if head.len() < text.len() { "…" } else { "" };
            match value {
                Value::Text(_) => format!("{head:?}{rest}").into(),
                _ => format!("{head}{rest}").into(),
            }
        }
        None => value.kind_name().into(),
    }
}

fn int(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) => Some(value.clone()),
        Value::Float(float) => number::to_whole(float.trunc()).map(Value::Int),
        Value::Text(text) => text.parse().ok().map(Value::Int),
        _ => None,
    }
}

fn float(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => {
            // Rust's parser also accepts `inf` and `nan`.
            let numeric = text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
            let float: f64 = numeric.then(|| text.parse().ok()).flatten()?;
            float.is_finite().then_some(Value::Float(float))
        }
        number => number::to_float(number).map(Value::Float),
    }
}

fn string(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Int(_) | Value::Float(_) => serde_json::to_string(value).ok(),
        Value::Date(date) => Some(date.to_string()),
        Value::Time(time) => Some(time.to_string()),
        Value::DateTime(time) => Some(time.to_string()),
        _ => None,
    }
}

fn boolean(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::Text(text) if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        Value::Text(text) if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        _ => None,
    }
}

fn date(value: &Value) -> Option<Date> {
    match value {
        Value::Date(date) => Some(*date),
        Value::Text(text) if text.len() <= "2026-01-01".len() => text.parse().ok(),
        _ => Some(to_utc(datetime(value)?).date()),
    }
}

fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Time(time) => Some(*time),
        Value::Text(text) if !text.contains(['T', 't', ' ', '-']) => text.parse().ok(),
        Value::Date(_) => None,
        Value::Text(text) if text.len() <= "2026-01-01".len() => None,
        _ => Some(to_utc(datetime(value)?).time()),
    }
}

fn datetime(value: &Value) -> Option<Timestamp> {
    match value {
        Value::DateTime(time) => Some(*time),
        Value::Date(date) => midnight(*date),
        Value::Text(text) => match text.parse() {
            Ok(time) => Some(time),
            Err(_) => midnight(text.parse().ok().filter(|_| text.len() <= 10)?),
        },
        _ => None,
    }
}

fn midnight(date: Date) -> Option<Timestamp> {
    let midnight = date.to_zoned(TimeZone::UTC).ok()?;
    Some(midnight.timestamp())
}

pub(super) fn to_utc(time: Timestamp) -> jiff::civil::DateTime {
    TimeZone::UTC.to_datetime(time)
}
