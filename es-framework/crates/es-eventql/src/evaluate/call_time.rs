//! The functions of dates and times. All of them use UTC.

use jiff::civil::{Date, Time};

use super::{argument_error::argument_error, cast::to_utc};
use crate::{function::Function, query_error::QueryErrorKind, value::Value};

pub(super) fn call_time_function(
    function: Function,
    arguments: &[Value],
) -> Result<Value, QueryErrorKind> {
    let [value] = arguments else {
        return Ok(Value::Null);
    };
    let number = match function {
        Function::Year | Function::Month | Function::Day | Function::Weekday => {
            let date = date(value)
                .ok_or_else(|| argument_error(function, "a date or a datetime", value))?;
            match function {
                Function::Year => date.year().into(),
                Function::Month => date.month().into(),
                Function::Day => date.day().into(),
                _ => date.weekday().to_sunday_zero_offset().into(),
            }
        }
        _ => {
            let time = time(value)
                .ok_or_else(|| argument_error(function, "a time or a datetime", value))?;
            match function {
                Function::Hour => time.hour().into(),
                Function::Minute => time.minute().into(),
                _ => time.second().into(),
            }
        }
    };
    Ok(Value::Int(number))
}

fn date(value: &Value) -> Option<Date> {
    match value {
        Value::Date(date) => Some(*date),
        Value::DateTime(time) => Some(to_utc(*time).date()),
        _ => None,
    }
}

fn time(value: &Value) -> Option<Time> {
    match value {
        Value::Time(time) => Some(*time),
        Value::DateTime(time) => Some(to_utc(*time).time()),
        _ => None,
    }
}
