//! Functions of numbers.

use super::{function::wrong, names::Function};
use crate::eventql::{error::ErrorKind, value::Value};

/// The number as a float; whole numbers above 2^53 become their nearest one.
pub(super) const fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

pub(super) fn finite(value: f64) -> Result<Value, ErrorKind> {
    if value.is_finite() {
        Ok(Value::Float(value))
    } else {
        Err(ErrorKind::OutOfRange)
    }
}

/// A float without fraction as a whole number, if it is in range.
pub(super) fn whole(value: f64) -> Option<i64> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    // In range by the comparison.
    #[allow(clippy::cast_possible_truncation)]
    (-BEYOND..BEYOND).contains(&value).then_some(value as i64)
}

/// From zero up to one: 53 of the random bits of a UUID.
pub(super) fn random() -> f64 {
    let (_, bits) = uuid::Uuid::new_v4().as_u64_pair();
    // The upper two bits of this half are fixed.
    let bits = (bits << 2) >> 11;
    bits as f64 / 9_007_199_254_740_992.0
}

pub(super) fn call(function: Function, arguments: &[Value]) -> Result<Value, ErrorKind> {
    match (function, arguments) {
        (Function::Abs, [Value::Int(value)]) => {
            let absolute = value.checked_abs();
            absolute.map(Value::Int).ok_or(ErrorKind::OutOfRange)
        }
        (Function::Ceil | Function::Floor | Function::Round, [Value::Int(value)]) => {
            Ok(Value::Int(*value))
        }
        (Function::Pow, [Value::Int(base), Value::Int(exponent)]) if *exponent >= 0 => {
            let exponent = u32::try_from(*exponent).unwrap_or(u32::MAX);
            let power = base.checked_pow(exponent);
            power.map(Value::Int).ok_or(ErrorKind::OutOfRange)
        }
        _ => {
            let needed = |value| float(value).ok_or_else(|| wrong(function, "a number", value));
            let values: Result<Vec<_>, _> = arguments.iter().map(needed).collect();
            of_floats(function, &values?)
        }
    }
}

fn of_floats(function: Function, values: &[f64]) -> Result<Value, ErrorKind> {
    let &[value, ..] = values else {
        return Ok(Value::Null);
    };
    let rounded = |float: f64| match whole(float) {
        Some(whole) => Ok(Value::Int(whole)),
        None => finite(float),
    };
    match function {
        Function::Ceil => rounded(value.ceil()),
        Function::Floor => rounded(value.floor()),
        Function::Round => rounded(value.round()),
        Function::Abs => finite(value.abs()),
        Function::Cos => finite(value.cos()),
        Function::Exp => finite(value.exp()),
        Function::Sqrt => finite(value.sqrt()),
        _ => finite(value.powf(values.get(1).copied().unwrap_or(1.0))),
    }
}
