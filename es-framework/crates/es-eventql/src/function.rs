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

/// Each function with its name and its minimum and maximum number of arguments.
pub(super) const FUNCTIONS: [(Function, &str, usize, usize); 30] = [
    (Function::Abs, "ABS", 1, 1),
    (Function::Ceil, "CEIL", 1, 1),
    (Function::Floor, "FLOOR", 1, 1),
    (Function::Round, "ROUND", 1, 1),
    (Function::Cos, "COS", 1, 1),
    (Function::Exp, "EXP", 1, 1),
    (Function::Pow, "POW", 2, 2),
    (Function::Sqrt, "SQRT", 1, 1),
    (Function::Rand, "RAND", 0, 0),
    (Function::Pi, "PI", 0, 0),
    (Function::Lower, "LOWER", 1, 1),
    (Function::Upper, "UPPER", 1, 1),
    (Function::Trim, "TRIM", 1, 1),
    (Function::LTrim, "LTRIM", 1, 1),
    (Function::RTrim, "RTRIM", 1, 1),
    (Function::Len, "LEN", 1, 1),
    (Function::InStr, "INSTR", 2, 2),
    (Function::Substring, "SUBSTRING", 2, 3),
    (Function::Replace, "REPLACE", 3, 3),
    (Function::StartsWith, "STARTSWITH", 2, 2),
    (Function::EndsWith, "ENDSWITH", 2, 2),
    (Function::Now, "NOW", 0, 0),
    (Function::Year, "YEAR", 1, 1),
    (Function::Month, "MONTH", 1, 1),
    (Function::Day, "DAY", 1, 1),
    (Function::Hour, "HOUR", 1, 1),
    (Function::Minute, "MINUTE", 1, 1),
    (Function::Second, "SECOND", 1, 1),
    (Function::Weekday, "WEEKDAY", 1, 1),
    (Function::If, "IF", 3, 3),
];

pub(super) const AGGREGATES: [(Aggregate, &str, usize, usize); 9] = [
    (Aggregate::Count, "COUNT", 0, 1),
    (Aggregate::Sum, "SUM", 1, 1),
    (Aggregate::Avg, "AVG", 1, 1),
    (Aggregate::Min, "MIN", 1, 1),
    (Aggregate::Max, "MAX", 1, 1),
    (Aggregate::Median, "MEDIAN", 1, 1),
    (Aggregate::StdDev, "STDDEV", 1, 1),
    (Aggregate::Variance, "VARIANCE", 1, 1),
    (Aggregate::Unique, "UNIQUE", 1, 1),
];

impl Function {
    pub(super) fn name(self) -> &'static str {
        let mut functions = FUNCTIONS.iter();
        functions
            .find(|(it, ..)| *it == self)
            .map_or("", |(_, name, ..)| name)
    }
}

impl Aggregate {
    pub(super) fn name(self) -> &'static str {
        let mut aggregates = AGGREGATES.iter();
        aggregates
            .find(|(it, ..)| *it == self)
            .map_or("", |(_, name, ..)| name)
    }
}

/// Returns the names of the functions.
#[doc(hidden)]
pub fn function_names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(_, name, ..)| *name)
}

/// Returns the names of the aggregates.
#[doc(hidden)]
pub fn aggregate_names() -> impl Iterator<Item = &'static str> {
    AGGREGATES.iter().map(|(_, name, ..)| *name)
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
