//! What a query lets its source leave out, without any change to the answer.

use super::{
    ast::{BinaryOperator, CastType, Expr, ExprKind, Literal, OrderKey, Origin, Statement},
    source::Hint,
};
use crate::{
    event::EventId,
    store::{Bound, Order},
};

/// What the source of a statement's events is told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) hint: Hint,
    /// Whether the source's order is the one of ORDER BY.
    pub(super) sorted: bool,
}

/// The plan of a statement with a single FROM clause over events; any other has none.
///
/// Only the conditions before the first one that can fail are used: an event that a later one
/// would keep away could otherwise have ended the query with an error, and a hint must not decide
/// whether it does.
pub(super) fn plan(statement: &Statement) -> Plan {
    let mut plan = Plan::default();
    let [source] = statement.sources.as_slice() else {
        return plan;
    };
    if source.origin != Origin::Events {
        return plan;
    }
    let mut conditions = Vec::new();
    if let Some(condition) = &statement.condition {
        conjunction(condition, &mut conditions);
    }
    let mut every_one_is_safe = true;
    for condition in conditions {
        if !note(condition, &source.alias, &mut plan.hint) {
            every_one_is_safe = false;
            break;
        }
    }
    // What a store makes of a range that ends before it begins is not for a query to find out.
    if let (Some(lower), Some(upper)) = (plan.hint.lower_bound, plan.hint.upper_bound)
        && id_of(lower) > id_of(upper)
    {
        plan.hint.upper_bound = None;
    }
    // Newest first with TOP leaves events unread, so no condition on them may fail either.
    let by_id = by_id(&statement.order, &source.alias);
    if let (Some(order), true, false) = (by_id, every_one_is_safe, statement.is_grouped()) {
        plan.hint.order = order;
        plan.sorted = true;
    }
    plan
}

const fn id_of(bound: Bound) -> u64 {
    match bound {
        Bound::Inclusive(id) | Bound::Exclusive(id) => id.get(),
    }
}

/// `a AND b AND c` as its parts, in the order in which they are computed.
fn conjunction<'a>(expr: &'a Expr, parts: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOperator::And, left, right) => {
            conjunction(left, parts);
            conjunction(right, parts);
        }
        _ => parts.push(expr),
    }
}

/// Notes what a condition that cannot fail says. Says whether it is such a condition.
fn note(condition: &Expr, alias: &str, hint: &mut Hint) -> bool {
    let ExprKind::Binary(operator, left, right) = &condition.kind else {
        return matches!(condition.kind, ExprKind::Literal(Literal::Bool(_)));
    };
    note_comparison(*operator, left, right, alias, hint)
        || mirrored(*operator)
            .is_some_and(|operator| note_comparison(operator, right, left, alias, hint))
}

const fn mirrored(operator: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator as Op;

    match operator {
        Op::Equal | Op::NotEqual => Some(operator),
        Op::Less => Some(Op::Greater),
        Op::LessOrEqual => Some(Op::GreaterOrEqual),
        Op::Greater => Some(Op::Less),
        Op::GreaterOrEqual => Some(Op::LessOrEqual),
        _ => None,
    }
}

fn note_comparison(
    operator: BinaryOperator,
    field: &Expr,
    value: &Expr,
    alias: &str,
    hint: &mut Hint,
) -> bool {
    match (&field.kind, &value.kind) {
        (ExprKind::Cast(id, CastType::Int), ExprKind::Literal(Literal::Int(number))) => {
            is_field(id, alias, "id") && note_id(operator, *number, hint)
        }
        (ExprKind::Field(target, name), ExprKind::Literal(Literal::Text(text))) => {
            is_alias(target, alias)
                && is_text(name)
                && mirrored(operator).is_some()
                && note_text(operator, name, text, hint)
        }
        _ => false,
    }
}

/// The fields of an event that are always strings.
fn is_text(name: &str) -> bool {
    matches!(
        name,
        "subject" | "type" | "source" | "id" | "time" | "hash" | "predecessorhash"
    )
}

fn note_text(operator: BinaryOperator, name: &str, text: &str, hint: &mut Hint) -> bool {
    if operator == BinaryOperator::Equal {
        match name {
            "subject" if hint.subject.is_none() => hint.subject = text.parse().ok(),
            "type" if hint.event_type.is_none() => hint.event_type = text.parse().ok(),
            _ => {}
        }
    }
    true
}

fn note_id(operator: BinaryOperator, number: i64, hint: &mut Hint) -> bool {
    use BinaryOperator as Op;

    // No id lies below zero: such a bound says nothing or excludes all, which WHERE does as well.
    let id = u64::try_from(number).ok().and_then(EventId::new);
    let Some(id) = id else {
        return mirrored(operator).is_some();
    };
    let (lower, upper) = match operator {
        Op::Equal => (Some(Bound::Inclusive(id)), Some(Bound::Inclusive(id))),
        Op::Greater => (Some(Bound::Exclusive(id)), None),
        Op::GreaterOrEqual => (Some(Bound::Inclusive(id)), None),
        Op::Less => (None, Some(Bound::Exclusive(id))),
        Op::LessOrEqual => (None, Some(Bound::Inclusive(id))),
        Op::NotEqual => (None, None),
        _ => return false,
    };
    hint.lower_bound = hint.lower_bound.or(lower);
    hint.upper_bound = hint.upper_bound.or(upper);
    true
}

/// The order of the ids, if that is what is asked for. Times and the ids' texts have orders of
/// their own: clocks are set back, and "10" is less than "9".
fn by_id(order: &[OrderKey], alias: &str) -> Option<Order> {
    // No two events have the same id, so another key would decide nothing; but it could fail.
    let [key] = order else {
        return None;
    };
    match &key.expr.kind {
        ExprKind::Cast(id, CastType::Int) if is_field(id, alias, "id") => Some(if key.descending {
            Order::Antichronological
        } else {
            Order::Chronological
        }),
        _ => None,
    }
}

fn is_field(expr: &Expr, alias: &str, wanted: &str) -> bool {
    match &expr.kind {
        ExprKind::Field(target, name) => &**name == wanted && is_alias(target, alias),
        _ => false,
    }
}

fn is_alias(expr: &Expr, alias: &str) -> bool {
    matches!(&expr.kind, ExprKind::Alias(name) if &**name == alias)
}
