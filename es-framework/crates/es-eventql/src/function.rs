//! The functions and aggregates of the language.

/// A function of single values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Ceil,
    Floor,
    Round,
    Cos,
    Exp,
    Pow,
    Sqrt,
    Rand,
    Pi,
    Lower,
    Upper,
    Trim,
    LTrim,
    RTrim,
    Len,
    InStr,
    Substring,
    Replace,
    StartsWith,
    EndsWith,
    Now,
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Weekday,
    If,
}

/// A function of all values in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aggregate {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    Median,
    StdDev,
    Variance,
    Unique,
}

/// A function of one row, or an aggregate of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallableKind {
    Function(Function),
    Aggregate(Aggregate),
}

/// A function or an aggregate with its name, and the numbers of arguments that it takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callable {
    pub(super) kind: CallableKind,
    pub(super) name: &'static str,
    pub(super) min_arguments: usize,
    pub(super) max_arguments: usize,
}

/// All functions and aggregates.
pub(super) const CALLABLES: [Callable; 39] = [
    Callable::function(Function::Abs, "ABS", 1, 1),
    Callable::function(Function::Ceil, "CEIL", 1, 1),
    Callable::function(Function::Floor, "FLOOR", 1, 1),
    Callable::function(Function::Round, "ROUND", 1, 1),
    Callable::function(Function::Cos, "COS", 1, 1),
    Callable::function(Function::Exp, "EXP", 1, 1),
    Callable::function(Function::Pow, "POW", 2, 2),
    Callable::function(Function::Sqrt, "SQRT", 1, 1),
    Callable::function(Function::Rand, "RAND", 0, 0),
    Callable::function(Function::Pi, "PI", 0, 0),
    Callable::function(Function::Lower, "LOWER", 1, 1),
    Callable::function(Function::Upper, "UPPER", 1, 1),
    Callable::function(Function::Trim, "TRIM", 1, 1),
    Callable::function(Function::LTrim, "LTRIM", 1, 1),
    Callable::function(Function::RTrim, "RTRIM", 1, 1),
    Callable::function(Function::Len, "LEN", 1, 1),
    Callable::function(Function::InStr, "INSTR", 2, 2),
    Callable::function(Function::Substring, "SUBSTRING", 2, 3),
    Callable::function(Function::Replace, "REPLACE", 3, 3),
    Callable::function(Function::StartsWith, "STARTSWITH", 2, 2),
    Callable::function(Function::EndsWith, "ENDSWITH", 2, 2),
    Callable::function(Function::Now, "NOW", 0, 0),
    Callable::function(Function::Year, "YEAR", 1, 1),
    Callable::function(Function::Month, "MONTH", 1, 1),
    Callable::function(Function::Day, "DAY", 1, 1),
    Callable::function(Function::Hour, "HOUR", 1, 1),
    Callable::function(Function::Minute, "MINUTE", 1, 1),
    Callable::function(Function::Second, "SECOND", 1, 1),
    Callable::function(Function::Weekday, "WEEKDAY", 1, 1),
    Callable::function(Function::If, "IF", 3, 3),
    Callable::aggregate(Aggregate::Count, "COUNT", 0, 1),
    Callable::aggregate(Aggregate::Sum, "SUM", 1, 1),
    Callable::aggregate(Aggregate::Avg, "AVG", 1, 1),
    Callable::aggregate(Aggregate::Min, "MIN", 1, 1),
    Callable::aggregate(Aggregate::Max, "MAX", 1, 1),
    Callable::aggregate(Aggregate::Median, "MEDIAN", 1, 1),
    Callable::aggregate(Aggregate::StdDev, "STDDEV", 1, 1),
    Callable::aggregate(Aggregate::Variance, "VARIANCE", 1, 1),
    Callable::aggregate(Aggregate::Unique, "UNIQUE", 1, 1),
];

impl Callable {
    const fn function(function: Function, name: &'static str, min: usize, max: usize) -> Self {
        Self::new(CallableKind::Function(function), name, min, max)
    }

    const fn aggregate(aggregate: Aggregate, name: &'static str, min: usize, max: usize) -> Self {
        Self::new(CallableKind::Aggregate(aggregate), name, min, max)
    }

    const fn new(kind: CallableKind, name: &'static str, min: usize, max: usize) -> Self {
        Self {
            kind,
            name,
            min_arguments: min,
            max_arguments: max,
        }
    }
}

impl CallableKind {
    fn name(self) -> &'static str {
        let mut callables = CALLABLES.iter();
        let found = callables.find(|callable| callable.kind == self);
        found.map_or("", |callable| callable.name)
    }
}

impl Function {
    pub(super) fn name(self) -> &'static str {
        CallableKind::Function(self).name()
    }
}

impl Aggregate {
    pub(super) fn name(self) -> &'static str {
        CallableKind::Aggregate(self).name()
    }
}

/// Returns the names of the functions.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    names(|kind| matches!(kind, CallableKind::Function(_)))
}

/// Returns the names of the aggregates.
pub fn aggregate_names() -> impl Iterator<Item = &'static str> {
    names(|kind| matches!(kind, CallableKind::Aggregate(_)))
}

fn names(is_wanted: fn(CallableKind) -> bool) -> impl Iterator<Item = &'static str> {
    let wanted = CALLABLES
        .iter()
        .filter(move |callable| is_wanted(callable.kind));
    wanted.map(|callable| callable.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_every_function() {
        let page = include_str!("../../../../docs/src/reference/eventql.md");
        for name in function_names().chain(aggregate_names()) {
            let is_named = [format!("`{name}`"), format!("`{name}(")];
            assert!(is_named.iter().any(|text| page.contains(text)), "{name}");
        }
    }
}
