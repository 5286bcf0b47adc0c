//! Finds bounds that are tighter than in the lock. Deserialization does not enforce bounds, so
//! stored events can violate them.

use serde_json::Value;

use super::breaking_change::{DataLoss, member};

/// A keyword, and true if it is an upper bound.
const BOUNDS: [(&str, bool); 8] = [
    ("maximum", true),
    ("exclusiveMaximum", true),
    ("maxLength", true),
    ("maxItems", true),
    ("minimum", false),
    ("exclusiveMinimum", false),
    ("minLength", false),
    ("minItems", false),
];

/// Returns the bounds of today's schema that are tighter than in the locked one, at all paths that
/// both schemas have.
pub(super) fn find_narrowed(locked: &Value, today: &Value) -> Vec<DataLoss> {
    let mut losses = vec![];
    compare(locked, today, &mut vec![], &mut losses);
    losses
}

/// Adds the bounds in today's schema that values of the locked schema can violate.
fn compare(locked: &Value, today: &Value, path: &mut Vec<String>, losses: &mut Vec<DataLoss>) {
    if locked.get("type") == today.get("type") {
        for (bound, is_upper) in BOUNDS {
            if is_tighter(locked.get(bound), today.get(bound), is_upper) {
                losses.push(narrowed_at(bound, locked, today, path));
            }
        }
        let pattern = today.get("pattern");
        if pattern.is_some() && pattern != locked.get("pattern") {
            losses.push(narrowed_at("pattern", locked, today, path));
        }
    }
    let members = |schema: &Value| schema.get("properties").and_then(Value::as_object).cloned();
    if let (Some(locked), Some(today)) = (members(locked), members(today)) {
        for (name, locked) in &locked {
            if let Some(today) = today.get(name) {
                inside(name, locked, today, path, losses);
            }
        }
    }
    for (keyword, name) in [("items", "0"), ("additionalProperties", "*")] {
        if let (Some(locked), Some(today)) = (locked.get(keyword), today.get(keyword)) {
            inside(name, locked, today, path, losses);
        }
    }
}

fn inside(
    name: &str,
    locked: &Value,
    today: &Value,
    path: &mut Vec<String>,
    losses: &mut Vec<DataLoss>,
) {
    path.push(name.to_owned());
    compare(locked, today, path, losses);
    path.pop();
}

fn is_tighter(locked: Option<&Value>, today: Option<&Value>, is_upper: bool) -> bool {
    match (
        locked.and_then(Value::as_f64),
        today.and_then(Value::as_f64),
    ) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(locked), Some(today)) if is_upper => today < locked,
        (Some(locked), Some(today)) => today > locked,
    }
}

fn narrowed_at(bound: &'static str, locked: &Value, today: &Value, path: &[String]) -> DataLoss {
    DataLoss::Narrowed {
        member: member(path),
        bound,
        locked: locked.get(bound).cloned(),
        today: today.get(bound).cloned().unwrap_or_default(),
    }
}
