//! Parses the numbers in a rule: bounds of a range, lengths and counts.

use syn::{Expr, ExprLit, ExprUnary, Lit, Meta, UnOp};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
};

/// The lower and the upper bound of a value.
pub(super) struct Bounds {
    pub(super) min: Option<Expr>,
    pub(super) max: Option<Expr>,
}

/// The rule and the kind of value that bounds belong to.
#[derive(Clone, Copy)]
pub(super) struct BoundTarget {
    /// The text of the rule in the source, such as `validate(range)`.
    pub(super) attribute: &'static str,
    pub(super) example: &'static str,
    /// The end of the message for an invalid bound.
    pub(super) is: &'static str,
    /// The smallest valid bound, if the rule counts something.
    pub(super) least: Option<i128>,
}

/// Parses `min = 1, max = 9`. Either bound may be absent. Records an error for an invalid bound.
pub(super) fn parse_bounds(
    meta: &Meta,
    arguments: Vec<Meta>,
    of: BoundTarget,
    errors: &mut Errors,
) -> Option<(Bounds, SeenKeys)> {
    let mut keys = SeenKeys::new(of.attribute, &["min", "max"]);
    let (mut min, mut max) = (None, None);
    let mut is_sound = true;
    for argument in arguments {
        let bound = match keys.recognize(&argument, errors) {
            Some("min") => &mut min,
            Some("max") => &mut max,
            _ => {
                is_sound = false;
                continue;
            }
        };
        *bound = number(&argument, of, errors);
        is_sound &= bound.is_some();
    }
    if let (Some(least), Some(most)) = (
        min.as_ref().and_then(parse_integer_literal),
        max.as_ref().and_then(parse_integer_literal),
    ) && least > most
    {
        let message = format!("nothing is at least {least} and at most {most}: exchange the ends");
        errors.record(meta, message);
        is_sound = false;
    }
    is_sound.then_some((Bounds { min, max }, keys))
}

fn number(argument: &Meta, of: BoundTarget, errors: &mut Errors) -> Option<Expr> {
    let value = attribute::parse_value(argument, of.example, errors)?;
    let fits = match of.least {
        Some(least) => parse_integer_literal(value).is_some_and(|value| value >= least),
        None => is_number(value),
    };
    if fits || matches!(value, Expr::Path(_)) {
        return Some(value.clone());
    }
    errors.record(value, format!("{}: write `{}`", of.is, of.example));
    None
}

fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => is_number(expr),
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        _ => false,
    }
}

/// Returns the value of an integer literal.
pub(super) fn parse_integer_literal(value: &Expr) -> Option<i128> {
    match value {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => parse_integer_literal(expr)?.checked_neg(),
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    }
}
