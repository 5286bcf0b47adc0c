//! The functions of strings. The first character has the position 1, as in SQL.

use super::argument_error::argument_error;
use crate::{function::Function, query_error::QueryErrorKind, value::Value};

/// The maximum number of bytes by which REPLACE may lengthen its text. Nested calls could otherwise
/// exhaust the memory.
const MAX_GROWTH: usize = 64 * 1024;

pub(super) fn call_text_function(
    function: Function,
    arguments: &[Value],
) -> Result<Value, QueryErrorKind> {
    if let (Function::Len, [Value::Array(items)]) = (function, arguments) {
        return Ok(count(items.len()));
    }
    if function == Function::Substring {
        return substring(arguments);
    }
    let mut texts = Vec::with_capacity(arguments.len());
    for argument in arguments {
        match argument {
            Value::Text(text) => texts.push(&**text),
            other => {
                let expected = match function {
                    Function::Len => "a string or an array",
                    _ => "a string",
                };
                return Err(argument_error(function, expected, other));
            }
        }
    }
    of_texts(function, &texts)
}

fn of_texts(function: Function, texts: &[&str]) -> Result<Value, QueryErrorKind> {
    Ok(match (function, texts) {
        (Function::Lower, [text]) => Value::Text(text.to_lowercase().into()),
        (Function::Upper, [text]) => Value::Text(text.to_uppercase().into()),
        (Function::Trim, [text]) => Value::from_text(text.trim()),
        (Function::LTrim, [text]) => Value::from_text(text.trim_start()),
        (Function::RTrim, [text]) => Value::from_text(text.trim_end()),
        (Function::Len, [text]) => count(text.chars().count()),
        (Function::InStr, [text, part]) => match text.split_once(part) {
            Some((before, _)) => count(before.chars().count().saturating_add(1)),
            None => Value::Int(0),
        },
        (Function::Replace, [text, from, to]) => replace(text, from, to)?,
        (Function::StartsWith, [text, part]) => Value::Bool(text.starts_with(part)),
        (Function::EndsWith, [text, part]) => Value::Bool(text.ends_with(part)),
        _ => Value::Null,
    })
}

/// Replaces all occurrences. An empty search string has no occurrences.
fn replace(text: &str, from: &str, to: &str) -> Result<Value, QueryErrorKind> {
    if from.is_empty() {
        return Ok(Value::from_text(text));
    }
    let grown = text.matches(from).count().saturating_mul(to.len());
    if grown > MAX_GROWTH.saturating_add(text.len()) {
        return Err(QueryErrorKind::OutOfRange);
    }
    Ok(Value::Text(text.replace(from, to).into()))
}

fn substring(arguments: &[Value]) -> Result<Value, QueryErrorKind> {
    let [text, start, rest @ ..] = arguments else {
        return Ok(Value::Null);
    };
    let Value::Text(text) = text else {
        return Err(argument_error(Function::Substring, "a string first", text));
    };
    let start = match start {
        Value::Int(start) if *start >= 1 => usize::try_from(*start).unwrap_or(usize::MAX),
        other => return Err(argument_error(Function::Substring, "a start from 1", other)),
    };
    let length = match rest.first() {
        None => usize::MAX,
        Some(Value::Int(length)) if *length >= 0 => usize::try_from(*length).unwrap_or(usize::MAX),
        Some(other) => {
            return Err(argument_error(
                Function::Substring,
                "a length from 0",
                other,
            ));
        }
    };
    let part: String = text
        .chars()
        .skip(start.saturating_sub(1))
        .take(length)
        .collect();
    Ok(Value::Text(part.into()))
}

/// Returns a count as a value.
fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
