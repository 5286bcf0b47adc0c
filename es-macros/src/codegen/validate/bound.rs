//! Numbers in a rule: ends of a range, lengths, counts.

use syn::{Expr, ExprLit, ExprUnary, Lit, Meta, UnOp};

use crate::codegen::{
    attribute::{self, Keys},
    errors::Errors,
};

/// What bounds a value from below and from above.
pub(super) struct Bounds {
    pub(super) min: Option<Expr>,
    pub(super) max: Option<Expr>,
}

/// What the bounds of a rule are bounds of.
#[derive(Clone, Copy)]
pub(super) struct Of {
    /// The rule in an attribute's words: `validate(range)`.
    pub(super) attribute: &'static str,
    pub(super) example: &'static str,
    /// What is wrong with a bound that is none.
    pub(super) is: &'static str,
    /// The smallest bound that makes sense, where whole numbers are counted.
    pub(super) least: Option<i128>,
}

/// Reads `min = 1, max = 9`, of which either may be left out. Nothing if one makes no sense; that
/// is noted.
pub(super) fn bounds(
    meta: &Meta,
    arguments: Vec<Meta>,
    of: Of,
    errors: &mut Errors,
) -> Option<(Bounds, Keys)> {
    let mut keys = Keys::new(of.attribute, &["min", "max"]);
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
    if let (Some(least), Some(most)) = (min.as_ref().and_then(whole), max.as_ref().and_then(whole))
        && least > most
    {
        let message = format!("nothing is at least {least} and at most {most}: exchange the ends");
        errors.at(meta, message);
        is_sound = false;
    }
    is_sound.then_some((Bounds { min, max }, keys))
}

fn number(argument: &Meta, of: Of, errors: &mut Errors) -> Option<Expr> {
    let value = attribute::value(argument, of.example, errors)?;
    let fits = match of.least {
        Some(least) => whole(value).is_some_and(|value| value >= least),
        None => is_number(value),
    };
    if fits || matches!(value, Expr::Path(_)) {
        return Some(value.clone());
    }
    errors.at(value, format!("{}: write `{}`", of.is, of.example));
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

/// The value of a whole number that is written out.
pub(super) fn whole(value: &Expr) -> Option<i128> {
    match value {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => whole(expr)?.checked_neg(),
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    }
}
