//! The functions of numbers.

use super::{
    argument_error::argument_error,
    number::{finite_or_error, to_float, to_whole},
};
use crate::{function::Function, query_error::QueryErrorKind, value::Value};

/// Returns a random number from 0 (inclusive) to 1 (exclusive), from 53 random bits of a UUID.
pub(super) fn random() -> f64 {
    let (_, bits) = uuid::Uuid::new_v4().as_u64_pair();
    // The upper two bits of this half are fixed by the UUID format.
    let bits = (bits << 2) >> 11;
    bits as f64 / 9_007_199_254_740_992.0
}

pub(super) fn call_numeric_function(
    function: Function,
    arguments: &[Value],
) -> Result<Value, QueryErrorKind> {
    match (function, arguments) {
        (Function::Abs, [Value::Int(value)]) => {
            let absolute = value.checked_abs();
            absolute.map(Value::Int).ok_or(QueryErrorKind::OutOfRange)
        }
        (Function::Ceil | Function::Floor | Function::Round, [Value::Int(value)]) => {
            Ok(Value::Int(*value))
        }
        (Function::Pow, [Value::Int(base), Value::Int(exponent)]) if *exponent >= 0 => {
            let exponent = u32::try_from(*exponent).unwrap_or(u32::MAX);
            let power = base.checked_pow(exponent);
            power.map(Value::Int).ok_or(QueryErrorKind::OutOfRange)
        }
        _ => {
            let needed =
                |value| to_float(value).ok_or_else(|| argument_error(function, "a number", value));
            let values: Result<Vec<_>, _> = arguments.iter().map(needed).collect();
            of_floats(function, &values?)
        }
    }
}

fn of_floats(function: Function, values: &[f64]) -> Result<Value, QueryErrorKind> {
    let &[value, ..] = values else {
        return Ok(Value::Null);
    };
    let rounded = |float: f64| match to_whole(float) {
        Some(whole) => Ok(Value::Int(whole)),
        None => finite_or_error(float),
    };
    match function {
        Function::Ceil => rounded(value.ceil()),
        Function::Floor => rounded(value.floor()),
        Function::Round => rounded(value.round()),
        Function::Abs => finite_or_error(value.abs()),
        Function::Cos => finite_or_error(value.cos()),
        Function::Exp => finite_or_error(value.exp()),
        Function::Sqrt => finite_or_error(value.sqrt()),
        _ => finite_or_error(value.powf(values.get(1).copied().unwrap_or(1.0))),
    }
}
