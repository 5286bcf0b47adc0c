//! Resolves the name of a function call.

use crate::{
    ast::{Expr, ExprKind},
    function::{CALLABLES, Callable, CallableKind},
    query_error::QueryErrorKind,
};

/// The most characters of a name that are compared with the names of functions.
const COMPARED: usize = 64;

impl Callable {
    pub(super) fn from_name(name: &str) -> Result<Self, QueryErrorKind> {
        let mut callables = CALLABLES.iter();
        let found = callables.find(|callable| callable.name.eq_ignore_ascii_case(name));
        found
            .copied()
            .ok_or_else(|| QueryErrorKind::UnknownFunction {
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
            (0, 1) => "at most one argument".into(),
            (min, max) if min == max => format!("{max} arguments").into(),
            (min, max) => format!("{min} to {max} arguments").into(),
        }
    }
}

/// Suggests the most similar function name. Lists all functions if none is similar.
fn hint(name: &str) -> Box<str> {
    let head = name.chars().take(COMPARED);
    let name: String = head.map(|letter| letter.to_ascii_uppercase()).collect();
    let names = CALLABLES.map(|callable| callable.name);
    let distances = names.map(|other| (strsim::levenshtein(&name, other), other));
    match distances.into_iter().min_by_key(|(distance, _)| *distance) {
        Some((distance, near)) if distance <= 2 && near.len() > distance => {
            format!("did you mean {near}?").into()
        }
        _ => format!("there are {}", names.join(", ")).into(),
    }
}
