//! Resolves the name of a function call.

use crate::{
    ast::{Expr, ExprKind},
    function::{AGGREGATES, Aggregate, FUNCTIONS, Function},
    query_error::QueryErrorKind,
};

/// A function or aggregate that a call names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callable {
    kind: CallableKind,
    name: &'static str,
    min_arguments: usize,
    max_arguments: usize,
}

/// A function of one row, or an aggregate of many.
#[derive(Debug, Clone, Copy)]
enum CallableKind {
    Function(Function),
    Aggregate(Aggregate),
}

impl Callable {
    /// Returns all functions and aggregates.
    fn all() -> impl Iterator<Item = Self> {
        let functions = FUNCTIONS
            .iter()
            .map(|(function, name, min_arguments, max_arguments)| Self {
                kind: CallableKind::Function(*function),
                name,
                min_arguments: *min_arguments,
                max_arguments: *max_arguments,
            });
        let aggregates =
            AGGREGATES
                .iter()
                .map(|(aggregate, name, min_arguments, max_arguments)| Self {
                    kind: CallableKind::Aggregate(*aggregate),
                    name,
                    min_arguments: *min_arguments,
                    max_arguments: *max_arguments,
                });
        functions.chain(aggregates)
    }

    pub(super) fn from_name(name: &str) -> Result<Self, QueryErrorKind> {
        let found = Self::all().find(|callable| callable.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| QueryErrorKind::UnknownFunction {
            name: name.into(),
            hint: hint(name),
        })
    }

    /// Returns the call with these arguments. Fails if their number is wrong.
    pub(super) fn with_arguments(self, arguments: Vec<Expr>) -> Result<ExprKind, QueryErrorKind> {
        let found = arguments.len();
        if found < self.min_arguments || found > self.max_arguments {
            return Err(QueryErrorKind::ArgumentCount {
                function: self.name,
                expected: self.expected(),
                found,
            });
        }
        Ok(match self.kind {
            CallableKind::Function(function) => ExprKind::Call(function, arguments),
            CallableKind::Aggregate(aggregate) => {
                ExprKind::Aggregate(aggregate, arguments.into_iter().next().map(Box::new))
            }
        })
    }

    /// Describes the expected number of arguments.
    fn expected(self) -> Box<str> {
        match (self.min_arguments, self.max_arguments) {
            (0, 0) => "no argument".into(),
            (1, 1) => "one argument".into(),
            (min_arguments, max_arguments) if min_arguments == max_arguments => {
                format!("{max_arguments} arguments").into()
            }
            (0, 1) => "at most one argument".into(),
            (min_arguments, max_arguments) => {
                format!("{min_arguments} to {max_arguments} arguments").into()
            }
        }
    }
}

/// Suggests the most similar function name. Lists all functions if none is similar.
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

/// Returns the Levenshtein distance between two names.
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
