//! The total order of values. Equal numbers are equal, whether they are integers or floats.

use std::{cmp::Ordering, sync::Arc};

use super::Value;

/// Orders values by kind (null, booleans, numbers, strings, dates, times, datetimes, arrays, records, events, raw JSON),
/// then numbers by size, times from early to late, and strings and arrays by their first difference. Records compare by
/// names and values, sorted by name. Raw JSON compares by its text, so decode values first.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Int(_) | Self::Float(_), Self::Int(_) | Self::Float(_)) => {
                compare_numbers(self, other)
            }
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Date(left), Self::Date(right)) => left.cmp(right),
            (Self::Time(left), Self::Time(right)) => left.cmp(right),
            (Self::DateTime(left), Self::DateTime(right)) => left.cmp(right),
            (Self::Array(left), Self::Array(right)) => left.iter().cmp(right.iter()),
            (Self::Record(left), Self::Record(right)) => by_name(left).cmp(&by_name(right)),
            (Self::Event(left) | Self::Data(left), Self::Event(right) | Self::Data(right)) => {
                left.id.cmp(&right.id)
            }
            (Self::Json(left), Self::Json(right)) => left.get().cmp(right.get()),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

fn by_name(fields: &[(Arc<str>, Value)]) -> Vec<&(Arc<str>, Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by(|(left, _), (right, _)| left.cmp(right));
    fields
}

/// Returns the place of a type in the order of values of different types.
const fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 2,
        Value::Text(_) => 3,
        Value::Date(_) => 4,
        Value::Time(_) => 5,
        Value::DateTime(_) => 6,
        Value::Array(_) => 7,
        Value::Record(_) => 8,
        Value::Event(_) | Value::Data(_) => 9,
        Value::Json(_) => 10,
    }
}

/// Compares two numbers exactly. Integers above 2^53 may have no exact float, so they are not
/// converted.
pub(crate) fn compare_numbers(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => floats(*left, *right),
        (Value::Int(left), Value::Float(right)) => int_with_float(*left, *right),
        (Value::Float(left), Value::Int(right)) => int_with_float(*right, *left).reverse(),
        _ => Ordering::Equal,
    }
}

fn floats(left: f64, right: f64) -> Ordering {
    // Floats here are always finite, so they are comparable.
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}

fn int_with_float(int: i64, float: f64) -> Ordering {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if float >= BEYOND {
        return Ordering::Less;
    }
    if float < -BEYOND {
        return Ordering::Greater;
    }
    // The value is in range. The next line compares the fraction.
    #[allow(clippy::cast_possible_truncation)]
    let whole = float.trunc() as i64;
    int.cmp(&whole).then_with(|| floats(0.0, float.fract()))
}
