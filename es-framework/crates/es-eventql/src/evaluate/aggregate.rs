//! Computes aggregates incrementally, one value after the other.

use std::cmp::Ordering;

use super::{cast::value_for_message, number};
use crate::{
    function::Aggregate,
    query_error::QueryErrorKind,
    value::{Value, compare_numbers},
};

/// The intermediate state of an aggregate. Nulls are ignored. Without any value, COUNT and SUM
/// return zero and the other aggregates return null.
#[derive(Debug)]
pub(crate) enum Accumulator {
    Count(i64),
    Sum(NumberSum),
    Average {
        sum: NumberSum,
        count: f64,
    },
    Extreme {
        of: Aggregate,
        best: Value,
    },
    Median(Vec<Value>),
    Spread {
        of: Aggregate,
        spread: RunningVariance,
    },
    Unique(Value),
}

/// Sums integers exactly: 128 bits cannot overflow.
#[derive(Debug, Default)]
pub(crate) struct NumberSum {
    whole: i128,
    fractional: Option<f64>,
}

/// Welford's running mean and sum of squared differences, which avoids cancellation.
#[derive(Debug, Default)]
pub(crate) struct RunningVariance {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Accumulator {
    pub(crate) fn new(aggregate: Aggregate) -> Self {
        match aggregate {
            Aggregate::Count => Self::Count(0),
            Aggregate::Sum => Self::Sum(NumberSum::default()),
            Aggregate::Avg => Self::Average {
                sum: NumberSum::default(),
                count: 0.0,
            },
            of @ (Aggregate::Min | Aggregate::Max) => Self::Extreme {
                of,
                best: Value::Null,
            },
            Aggregate::Median => Self::Median(Vec::new()),
            of @ (Aggregate::StdDev | Aggregate::Variance) => Self::Spread {
                of,
                spread: RunningVariance::default(),
            },
            Aggregate::Unique => Self::Unique(Value::Null),
        }
    }

    /// Adds a decoded value, or none if the aggregate has no argument. Returns the number of bytes
    /// that the accumulator additionally holds.
    pub(crate) fn add(&mut self, value: Option<Value>) -> Result<usize, QueryErrorKind> {
        let value = match value {
            Some(Value::Null) => return Ok(0),
            value => value.unwrap_or(Value::Bool(true)),
        };
        match self {
            Self::Count(count) => match value {
                Value::Bool(counts) => *count = count.saturating_add(counts.into()),
                other => return Err(wrong(Aggregate::Count, "a boolean", &other)),
            },
            Self::Sum(sum) => sum.add(Aggregate::Sum, &value)?,
            Self::Average { sum, count } => {
                sum.add(Aggregate::Avg, &value)?;
                *count += 1.0;
            }
            Self::Extreme { of, best } => return extreme(*of, best, value),
            Self::Median(values) => {
                if number::to_float(&value).is_none() {
                    return Err(wrong(Aggregate::Median, "numbers", &value));
                }
                values.push(value);
                return Ok(size_of::<Value>());
            }
            Self::Spread { of, spread } => {
                let number = number::to_float(&value);
                spread.add(number.ok_or_else(|| wrong(*of, "numbers", &value))?);
            }
            Self::Unique(first) => return unique(first, value),
        }
        Ok(0)
    }

    pub(crate) fn finish(self) -> Result<Value, QueryErrorKind> {
        match self {
            Self::Count(count) => Ok(Value::Int(count)),
            Self::Sum(sum) => sum.finish(),
            Self::Average { count: 0.0, .. } => Ok(Value::Null),
            Self::Average { sum, count } => number::finite_or_error(sum.float() / count),
            Self::Extreme { best: value, .. } | Self::Unique(value) => Ok(value),
            Self::Median(values) => median(values),
            Self::Spread { spread, .. } if spread.count == 0.0 => Ok(Value::Null),
            Self::Spread { of, spread } => {
                let variance = spread.squares / spread.count;
                number::finite_or_error(if of == Aggregate::StdDev {
                    variance.sqrt()
                } else {
                    variance
                })
            }
        }
    }
}

impl NumberSum {
    fn add(&mut self, of: Aggregate, value: &Value) -> Result<(), QueryErrorKind> {
        match value {
            Value::Int(value) => self.whole = self.whole.saturating_add((*value).into()),
            Value::Float(value) => self.fractional = Some(self.fractional.unwrap_or(0.0) + value),
            other => return Err(wrong(of, "numbers", other)),
        }
        Ok(())
    }

    fn float(&self) -> f64 {
        self.whole as f64 + self.fractional.unwrap_or(0.0)
    }

    fn finish(self) -> Result<Value, QueryErrorKind> {
        if self.fractional.is_some() {
            return number::finite_or_error(self.float());
        }
        let whole = i64::try_from(self.whole);
        whole
            .map(Value::Int)
            .map_err(|_| QueryErrorKind::OutOfRange)
    }
}

impl RunningVariance {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let difference = value - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (value - self.mean);
    }
}

fn extreme(of: Aggregate, best: &mut Value, value: Value) -> Result<usize, QueryErrorKind> {
    if matches!(value, Value::Bool(_) | Value::Array(_) | Value::Record(_)) {
        return Err(wrong(of, "values that have an order", &value));
    }
    if matches!(best, Value::Null) {
        let size = value.size();
        *best = value;
        return Ok(size);
    }
    if best.kind_name() != value.kind_name() {
        return Err(wrong(of, "values of one kind", &value));
    }
    let wanted = match of {
        Aggregate::Min => Ordering::Less,
        _ => Ordering::Greater,
    };
    if value.cmp(best) != wanted {
        return Ok(0);
    }
    let grown = value.size().saturating_sub(best.size());
    *best = value;
    Ok(grown)
}

fn unique(first: &mut Value, value: Value) -> Result<usize, QueryErrorKind> {
    if matches!(first, Value::Null) {
        let size = value.size();
        *first = value;
        return Ok(size);
    }
    if *first == value {
        return Ok(0);
    }
    Err(QueryErrorKind::NotUnique {
        first: value_for_message(first),
        second: value_for_message(&value),
    })
}

/// Returns the middle value, or the mean of the two middle values.
fn median(mut values: Vec<Value>) -> Result<Value, QueryErrorKind> {
    values.sort_by(compare_numbers);
    let middle = values.len() / 2;
    let upper = values.get(middle).cloned().unwrap_or(Value::Null);
    if values.len() % 2 == 1 {
        return Ok(upper);
    }
    let lower = middle.checked_sub(1).and_then(|index| values.get(index));
    match (lower.and_then(number::to_float), number::to_float(&upper)) {
        (Some(lower), Some(upper)) => number::finite_or_error(lower.midpoint(upper)),
        _ => Ok(Value::Null),
    }
}

/// Returns the error for an argument of another type.
fn wrong(aggregate: Aggregate, expected: &'static str, found: &Value) -> QueryErrorKind {
    QueryErrorKind::WrongArgument {
        function: aggregate.name(),
        expected,
        found: found.kind_name().into(),
    }
}
