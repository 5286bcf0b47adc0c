//! Which function takes which values.

use jiff::Timestamp;

use super::{cast::shown, names::Function, numeric, temporal, textual};
use crate::eventql::{error::ErrorKind, value::Value};

/// Calls a function on settled values. Null in gives null out.
pub(super) fn call(
    function: Function,
    arguments: &[Value],
    now: Timestamp,
) -> Result<Value, ErrorKind> {
    if arguments.iter().any(|value| matches!(value, Value::Null)) {
        return Ok(Value::Null);
    }
    match function {
        Function::Now => Ok(Value::DateTime(now)),
        Function::Rand => Ok(Value::Float(numeric::random())),
        Function::Pi => Ok(Value::Float(std::f64::consts::PI)),
        Function::Abs
        | Function::Ceil
        | Function::Floor
        | Function::Round
        | Function::Cos
        | Function::Exp
        | Function::Pow
        | Function::Sqrt => numeric::call(function, arguments),
        Function::Year
        | Function::Month
        | Function::Day
        | Function::Hour
        | Function::Minute
        | Function::Second
        | Function::Weekday => temporal::call(function, arguments),
        _ => textual::call(function, arguments),
    }
}

/// The error of a function on the first argument that it does not take.
pub(super) fn wrong(function: Function, expected: &'static str, found: &Value) -> ErrorKind {
    let found = match found {
        Value::Int(_) | Value::Float(_) => format!("the number {}", shown(found)).into(),
        other => other.kind().into(),
    };
    ErrorKind::WrongArgument {
        function: function.name(),
        expected,
        found,
    }
}
