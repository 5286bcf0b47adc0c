//! Dispatches function calls by the kind of their arguments.

use jiff::Timestamp;

use super::{call_numeric, call_text, call_time};
use crate::{
    function::Function, query_budget::RowBudget, query_error::QueryErrorKind, value::Value,
};

/// Calls a function with decoded values. Returns null if an argument is null.
pub(super) fn call_function(
    function: Function,
    arguments: &[Value],
    now: Timestamp,
    budget: &RowBudget<'_>,
) -> Result<Value, QueryErrorKind> {
    if arguments.iter().any(|value| matches!(value, Value::Null)) {
        return Ok(Value::Null);
    }
    match function {
        Function::Now => Ok(Value::DateTime(now)),
        Function::Rand => Ok(Value::Float(call_numeric::random())),
        Function::Pi => Ok(Value::Float(std::f64::consts::PI)),
        Function::Abs
        | Function::Ceil
        | Function::Floor
        | Function::Round
        | Function::Cos
        | Function::Exp
        | Function::Pow
        | Function::Sqrt => call_numeric::call_numeric_function(function, arguments),
        Function::Year
        | Function::Month
        | Function::Day
        | Function::Hour
        | Function::Minute
        | Function::Second
        | Function::Weekday => call_time::call_time_function(function, arguments),
        _ => call_text::call_text_function(function, arguments, budget),
    }
}
