//! Derives the part of a query that the source can apply while it reads events.

use super::{
    ast::{BinaryOperator, CastType, Expr, ExprKind, Literal, OrderKey, RowSource, Statement},
    read_hint::ReadHint,
};
use es_event::EventId;
use es_store::{Bound, Order};

/// The plan for reading the events of a statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReadPlan {
    pub(super) hint: ReadHint,
    /// True if the source already returns the order of ORDER BY.
    pub(super) sorted: bool,
}

/// Plans a statement with a single FROM clause over events. Other statements need all events.
///
/// Only conditions before the first one that can fail become hints. A later condition could exclude
/// an event on which an earlier one fails, and a hint must not hide that error.
pub(super) fn plan_read(statement: &Statement) -> ReadPlan {
    let mut plan = ReadPlan::default();
    let [source] = statement.sources.as_slice() else {
        return plan;
    };
    if source.origin != RowSource::Events {
        return plan;
    }
    let mut conditions = Vec::new();
    if let Some(condition) = &statement.condition {
        conjunction(condition, &mut conditions);
    }
    let mut every_one_is_safe = true;
    for condition in conditions {
        if !add_condition_to_hint(condition, &source.alias, &mut plan.hint) {
            every_one_is_safe = false;
            break;
        }
    }
    // A store may reject a range that ends before it begins, so the upper bound is dropped.
    if let (Some(lower), Some(upper)) = (plan.hint.lower_bound, plan.hint.upper_bound)
        && id_of(lower) > id_of(upper)
    {
        plan.hint.upper_bound = None;
    }
    // Reading newest first with TOP skips events, so no condition on the skipped events may fail.
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

/// Splits `a AND b AND c` into its operands, in evaluation order.
fn conjunction<'a>(expr: &'a Expr, parts: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOperator::And, left, right) => {
            conjunction(left, parts);
            conjunction(right, parts);
        }
        _ => parts.push(expr),
    }
}

/// Adds a condition to the hint if its evaluation cannot fail. Returns true if it cannot fail.
fn add_condition_to_hint(condition: &Expr, alias: &str, hint: &mut ReadHint) -> bool {
    let ExprKind::Binary(operator, left, right) = &condition.kind else {
        return matches!(condition.kind, ExprKind::Literal(Literal::Bool(_)));
    };
    add_comparison_to_hint(*operator, left, right, alias, hint)
        || mirrored(*operator)
            .is_some_and(|operator| add_comparison_to_hint(operator, right, left, alias, hint))
}

/// Returns the operator for swapped operands. Returns `None` for operators that compare nothing.
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

fn add_comparison_to_hint(
    operator: BinaryOperator,
    field: &Expr,
    value: &Expr,
    alias: &str,
    hint: &mut ReadHint,
) -> bool {
    match (&field.kind, &value.kind) {
        (ExprKind::Cast(id, CastType::Int), ExprKind::Literal(Literal::Int(number))) => {
            is_field(id, alias, "id") && add_id_to_hint(operator, *number, hint)
        }
        (ExprKind::Field(target, name), ExprKind::Literal(Literal::Text(text))) => {
            is_alias(target, alias)
                && is_text(name)
                && mirrored(operator).is_some()
                && add_text_to_hint(operator, name, text, hint)
        }
        _ => false,
    }
}

/// Returns true for event fields that are always strings.
fn is_text(name: &str) -> bool {
    matches!(
        name,
        "subject" | "type" | "source" | "id" | "time" | "hash" | "predecessorhash"
    )
}

fn add_text_to_hint(operator: BinaryOperator, name: &str, text: &str, hint: &mut ReadHint) -> bool {
    if operator == BinaryOperator::Equal {
        match name {
            "subject" if hint.subject.is_none() => hint.subject = text.parse().ok(),
            "type" if hint.event_type.is_none() => hint.event_type = text.parse().ok(),
            _ => {}
        }
    }
    true
}

fn add_id_to_hint(operator: BinaryOperator, number: i64, hint: &mut ReadHint) -> bool {
    use BinaryOperator as Op;

    // Event ids are never negative. Such a bound excludes nothing or everything, and WHERE handles
    // both.
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

/// Returns the order by id, if the query asks for it. Neither times nor ids as strings have this
/// order: clocks can go back, and "10" sorts before "9".
fn by_id(order: &[OrderKey], alias: &str) -> Option<Order> {
    // Two events never have the same id, so a second key could not change the order; but it could
    // fail.
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
