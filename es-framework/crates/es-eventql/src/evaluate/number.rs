//! Conversions between integers and floats.

use crate::{query_error::QueryErrorKind, value::Value};

/// Converts a number to a float. Integers above 2^53 are rounded.
pub(super) const fn to_float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// Returns the number as a value, or an error if it is infinite or not a number.
pub(super) fn finite_or_error(value: f64) -> Result<Value, QueryErrorKind> {
    if value.is_finite() {
        Ok(Value::Float(value))
    } else {
        Err(QueryErrorKind::OutOfRange)
    }
}

/// Converts a float without a fraction to an integer, if it is in range.
pub(super) fn to_whole(value: f64) -> Option<i64> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    // A float without a fraction in this range fits an `i64` exactly. The result of any other cast is
    // discarded.
    #[allow(clippy::cast_possible_truncation)]
    (-BEYOND..BEYOND).contains(&value).then_some(value as i64)
}
