//! The functions and aggregates there are.

use super::super::ast::{Expr, ExprKind};
use crate::eventql::error::ErrorKind;

/// A function of single values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::eventql) enum Function {
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

/// A function of the values of a whole group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::eventql) enum Aggregate {
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

/// Each function, its name, and the fewest and most arguments that it takes.
pub(in crate::eventql) const FUNCTIONS: [(Function, &str, usize, usize); 30] = [
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

pub(in crate::eventql) const AGGREGATES: [(Aggregate, &str, usize, usize); 9] = [
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
    pub(in crate::eventql) fn name(self) -> &'static str {
        let mut functions = FUNCTIONS.iter();
        functions
            .find(|(it, ..)| *it == self)
            .map_or("", |(_, name, ..)| name)
    }
}

impl Aggregate {
    pub(in crate::eventql) fn name(self) -> &'static str {
        let mut aggregates = AGGREGATES.iter();
        aggregates
            .find(|(it, ..)| *it == self)
            .map_or("", |(_, name, ..)| name)
    }
}

/// What a name before a parenthesis means.
#[derive(Debug, Clone, Copy)]
pub(in crate::eventql) struct Callable {
    what: Kind,
    name: &'static str,
    least: usize,
    most: usize,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Function(Function),
    Aggregate(Aggregate),
}

impl Callable {
    fn all() -> impl Iterator<Item = Self> {
        let functions = FUNCTIONS.iter().map(|(function, name, least, most)| Self {
            what: Kind::Function(*function),
            name,
            least: *least,
            most: *most,
        });
        let aggregates = AGGREGATES
            .iter()
            .map(|(aggregate, name, least, most)| Self {
                what: Kind::Aggregate(*aggregate),
                name,
                least: *least,
                most: *most,
            });
        functions.chain(aggregates)
    }

    pub(in crate::eventql) fn named(name: &str) -> Result<Self, ErrorKind> {
        let found = Self::all().find(|callable| callable.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| ErrorKind::UnknownFunction {
            name: name.into(),
            hint: hint(name),
        })
    }

    pub(in crate::eventql) fn call(self, arguments: Vec<Expr>) -> Result<ExprKind, ErrorKind> {
        let found = arguments.len();
        if found < self.least || found > self.most {
            return Err(ErrorKind::ArgumentCount {
                function: self.name,
                expected: self.expected(),
                found,
            });
        }
        Ok(match self.what {
            Kind::Function(function) => ExprKind::Call(function, arguments),
            Kind::Aggregate(aggregate) => {
                ExprKind::Aggregate(aggregate, arguments.into_iter().next().map(Box::new))
            }
        })
    }

    fn expected(self) -> Box<str> {
        match (self.least, self.most) {
            (0, 0) => "no argument".into(),
            (1, 1) => "one argument".into(),
            (least, most) if least == most => format!("{most} arguments").into(),
            (0, 1) => "at most one argument".into(),
            (least, most) => format!("{least} to {most} arguments").into(),
        }
    }
}

/// The function that is meant, if one is near; else all.
fn hint(name: &str) -> Box<str> {
    let name = name.to_ascii_uppercase();
    let near = Callable::all()
        .map(|callable| (distance(&name, callable.name), callable.name))
        .min_by_key(|(distance, _)| *distance);
    match near {
        Some((distance, near)) if distance <= 2 && near.len() > distance => {
            format!("did you mean {near}?").into()
        }
        _ => {
            let names: Vec<_> = Callable::all().map(|callable| callable.name).collect();
            format!("there are {}", names.join(", ")).into()
        }
    }
}

/// How many letters to change, add or leave out to get from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.chars().count()).collect();
    for (index, letter) in left.chars().take(64).enumerate() {
        let mut diagonal = index;
        let mut before = index.saturating_add(1);
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (cell, other) in row.iter_mut().skip(1).zip(right.chars()) {
            let changed = diagonal.saturating_add(usize::from(letter != other));
            diagonal = *cell;
            before = changed.min(diagonal.min(before).saturating_add(1));
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}
