//! Binary operators, signs and indexing.

use std::cmp::Ordering;

use crate::{
    ast::{BinaryOperator, UnaryOperator},
    query_error::QueryErrorKind,
    value::Value,
};

type OperatorResult = Result<Value, QueryErrorKind>;

pub(super) fn apply_binary(
    operator: BinaryOperator,
    left: &Value,
    right: &Value,
) -> OperatorResult {
    use BinaryOperator as Op;

    match operator {
        Op::Contains => contains(left, right),
        Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder => {
            arithmetic(operator, left, right)
        }
        _ => compare(operator, left, right).map(Value::Bool),
    }
}

fn compare(operator: BinaryOperator, left: &Value, right: &Value) -> Result<bool, QueryErrorKind> {
    use BinaryOperator as Op;

    let is_null = |value: &Value| matches!(value, Value::Null);
    if is_null(left) || is_null(right) {
        let both = is_null(left) && is_null(right);
        return Ok(match operator {
            Op::Equal => both,
            Op::NotEqual => !both,
            // Null has no order: `<`, `<=`, `>` and `>=` are false, even between two nulls.
            _ => false,
        });
    }
    let is_ordered = !matches!(left, Value::Bool(_) | Value::Array(_) | Value::Record(_));
    let by_identity = matches!(operator, Op::Equal | Op::NotEqual);
    if left.kind_name() != right.kind_name() || !(is_ordered || by_identity) {
        return Err(QueryErrorKind::NotComparable {
            left: left.kind_name(),
            right: right.kind_name(),
            operator: operator.symbol(),
        });
    }
    let order = left.cmp(right);
    Ok(match operator {
        Op::Equal => order == Ordering::Equal,
        Op::NotEqual => order != Ordering::Equal,
        Op::Less => order == Ordering::Less,
        Op::LessOrEqual => order != Ordering::Greater,
        Op::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

fn contains(left: &Value, right: &Value) -> OperatorResult {
    match left {
        Value::Array(items) => Ok(Value::Bool(items.contains(right))),
        Value::Null => Ok(Value::Bool(false)),
        other => Err(QueryErrorKind::WrongOperand {
            operator: "CONTAINS",
            expected: "an array on its left",
            found: other.kind_name(),
        }),
    }
}

fn arithmetic(operator: BinaryOperator, left: &Value, right: &Value) -> OperatorResult {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => whole(operator, *left, *right),
        (Value::Null, other) | (other, Value::Null) => match other {
            Value::Null | Value::Int(_) | Value::Float(_) => Ok(Value::Null),
            other => Err(not_a_number(operator.symbol(), other)),
        },
        _ => {
            let float = |value| {
                super::number::to_float(value).ok_or_else(|| not_a_number(operator.symbol(), value))
            };
            fractional(operator, float(left)?, float(right)?)
        }
    }
}

fn not_a_number(operator: &'static str, found: &Value) -> QueryErrorKind {
    QueryErrorKind::WrongOperand {
        operator,
        expected: "numbers",
        found: found.kind_name(),
    }
}

/// Calculates with integers.
fn whole(operator: BinaryOperator, left: i64, right: i64) -> OperatorResult {
    use BinaryOperator as Op;

    let by_zero = matches!(operator, Op::Divide | Op::Remainder) && right == 0;
    if by_zero {
        return Err(QueryErrorKind::DivisionByZero);
    }
    let result = match operator {
        Op::Add => left.checked_add(right),
        Op::Subtract => left.checked_sub(right),
        Op::Multiply => left.checked_mul(right),
        // The smallest integer divided by -1 overflows, but its remainder is zero.
        Op::Remainder => Some(left.checked_rem(right).unwrap_or(0)),
        _ => match left.checked_rem(right) {
            Some(0) => left.checked_div(right),
            Some(_) => return fractional(operator, left as f64, right as f64),
            None => None,
        },
    };
    result.map(Value::Int).ok_or(QueryErrorKind::OutOfRange)
}

/// Calculates with floats.
fn fractional(operator: BinaryOperator, left: f64, right: f64) -> OperatorResult {
    use BinaryOperator as Op;

    let by_zero = matches!(operator, Op::Divide | Op::Remainder) && right == 0.0;
    if by_zero {
        return Err(QueryErrorKind::DivisionByZero);
    }
    super::number::finite_or_error(match operator {
        Op::Add => left + right,
        Op::Subtract => left - right,
        Op::Multiply => left * right,
        Op::Divide => left / right,
        _ => left % right,
    })
}

pub(super) fn apply_sign(operator: UnaryOperator, operand: Value) -> OperatorResult {
    let minus = operator == UnaryOperator::Minus;
    match operand {
        Value::Int(value) if minus => {
            let negated = value.checked_neg();
            negated.map(Value::Int).ok_or(QueryErrorKind::OutOfRange)
        }
        Value::Float(value) if minus => Ok(Value::Float(-value)),
        Value::Null | Value::Int(_) | Value::Float(_) => Ok(operand),
        other => Err(not_a_number(operator.symbol(), &other)),
    }
}

/// Evaluates `array[0]` or `record["name"]`. Missing elements are null.
pub(super) fn find_element(target: &Value, index: &Value) -> OperatorResult {
    match index {
        Value::Int(index) => target.element(*index),
        Value::Text(name) => target.member(name),
        Value::Null => Ok(Value::Null),
        other => Err(QueryErrorKind::WrongOperand {
            operator: "[]",
            expected: "a whole number or a string",
            found: other.kind_name(),
        }),
    }
}
