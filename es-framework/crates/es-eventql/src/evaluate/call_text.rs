//! The functions of strings. The first character has the position 1, as in SQL.

use super::argument_error::argument_error;
use crate::{
    function::Function, query_budget::RowBudget, query_error::QueryErrorKind, value::Value,
};

pub(super) fn call_text_function(
    function: Function,
    arguments: &[Value],
    budget: &RowBudget<'_>,
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
    of_texts(function, &texts, budget)
}

fn of_texts(
    function: Function,
    texts: &[&str],
    budget: &RowBudget<'_>,
) -> Result<Value, QueryErrorKind> {
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
        (Function::Replace, [text, from, to]) => replace(text, from, to, budget)?,
        (Function::StartsWith, [text, part]) => Value::Bool(text.starts_with(part)),
        (Function::EndsWith, [text, part]) => Value::Bool(text.ends_with(part)),
        _ => Value::Null,
    })
}

/// Replaces all occurrences. An empty search string has no occurrences. No other function lengthens its
/// text much, so the others are counted afterwards.
fn replace(
    text: &str,
    from: &str,
    to: &str,
    budget: &RowBudget<'_>,
) -> Result<Value, QueryErrorKind> {
    if from.is_empty() {
        return Ok(Value::from_text(text));
    }
    let inserted = text.matches(from).count().saturating_mul(to.len());
    budget.check_room_for(text.len().saturating_add(inserted))?;
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
