//! Compares the executor with a naive evaluation, over random events and queries.

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

use super::{EventParts, answer, source};
use crate::EventQlQuery;

#[derive(Debug, Clone)]
struct Event {
    subject: &'static str,
    event_type: &'static str,
    /// Absent, null, a number, or a string where a condition may fail.
    n: Option<Value>,
}

fn event() -> impl Strategy<Value = Event> {
    let n = prop_oneof![
        8 => (-3..4_i64).prop_map(|n| Some(json!(n))),
        2 => (-3..4_i64).prop_map(|n| Some(json!(n as f64 + 0.5))),
        1 => Just(Some(Value::Null)),
        1 => Just(None),
        1 => Just(Some(json!("text"))),
    ];
    (
        select(vec!["/a", "/a/b", "/c"]),
        select(vec!["io.example.x", "io.example.y"]),
        n,
    )
        .prop_map(|(subject, event_type, n)| Event {
            subject,
            event_type,
            n,
        })
}

#[derive(Debug, Clone)]
enum Condition {
    Subject(&'static str),
    Type(&'static str),
    Id(&'static str, i64),
    Number(&'static str, i64),
    IsNull(bool),
    Not(Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
    Either(Box<Condition>, Box<Condition>),
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

fn condition() -> impl Strategy<Value = Condition> {
    let operator = || select(COMPARISONS.to_vec());
    let leaf = prop_oneof![
        2 => select(vec!["/a", "/a/b", "/c", "/d"]).prop_map(Condition::Subject),
        2 => select(vec!["io.example.x", "io.example.z"]).prop_map(Condition::Type),
        2 => (operator(), -1..12_i64).prop_map(|(operator, n)| Condition::Id(operator, n)),
        1 => (operator(), -3..4_i64).prop_map(|(operator, n)| Condition::Number(operator, n)),
        1 => any::<bool>().prop_map(Condition::IsNull),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let boxed = inner.prop_map(Box::new);
        prop_oneof![
            1 => boxed.clone().prop_map(Condition::Not),
            3 => (boxed.clone(), boxed.clone()).prop_map(|(l, r)| Condition::Both(l, r)),
            1 => (boxed.clone(), boxed).prop_map(|(l, r)| Condition::Either(l, r)),
        ]
    })
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Self::Subject(subject) => format!("e.subject == '{subject}'"),
            Self::Type(name) => format!("\"{name}\" == e.type"),
            Self::Id(operator, n) => format!("e.id AS INT {operator} ({n})"),
            Self::Number(operator, n) => format!("e.data.n {operator} ({n})"),
            Self::IsNull(yes) => format!("e.data.n {} null", if *yes { "==" } else { "!=" }),
            Self::Not(inner) => format!("NOT ({})", inner.text()),
            Self::Both(left, right) => format!("({}) AND ({})", left.text(), right.text()),
            Self::Either(left, right) => format!("({}) OR ({})", left.text(), right.text()),
        }
    }

    /// `None` means that the evaluation fails.
    fn holds(&self, id: usize, event: &Event) -> Option<bool> {
        let compare = |operator: &str, left: f64, right: f64| match operator {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            _ => left >= right,
        };
        Some(match self {
            Self::Subject(subject) => event.subject == *subject,
            Self::Type(name) => event.event_type == *name,
            Self::Id(operator, n) => compare(operator, id as f64, *n as f64),
            Self::Number(operator, n) => match &event.n {
                None | Some(Value::Null) => *operator == "!=",
                Some(number) => compare(operator, number.as_f64()?, *n as f64),
            },
            Self::IsNull(yes) => matches!(event.n, None | Some(Value::Null)) == *yes,
            Self::Not(inner) => !inner.holds(id, event)?,
            Self::Both(left, right) => left.holds(id, event)? && right.holds(id, event)?,
            Self::Either(left, right) => left.holds(id, event)? || right.holds(id, event)?,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    AsStored,
    ById { descending: bool },
    ByNumber { descending: bool },
    Grouped,
    Distinct,
}

#[derive(Debug, Clone)]
struct GeneratedQuery {
    condition: Option<Condition>,
    shape: Shape,
    skip: Option<usize>,
    top: Option<usize>,
}

fn generated_query() -> impl Strategy<Value = GeneratedQuery> {
    let shape = prop_oneof![
        2 => Just(Shape::AsStored),
        2 => any::<bool>().prop_map(|descending| Shape::ById { descending }),
        2 => any::<bool>().prop_map(|descending| Shape::ByNumber { descending }),
        1 => Just(Shape::Grouped),
        1 => Just(Shape::Distinct),
    ];
    let part = || option::of(0..5_usize);
    (option::weighted(0.8, condition()), shape, part(), part()).prop_map(
        |(condition, shape, skip, top)| GeneratedQuery {
            condition,
            shape,
            skip,
            top,
        },
    )
}

impl GeneratedQuery {
    fn text(&self) -> String {
        let mut text = String::from("FROM e IN events ");
        if let Some(condition) = &self.condition {
            text += &format!("WHERE {} ", condition.text());
        }
        let direction = |descending| if descending { "DESC " } else { "ASC " };
        match self.shape {
            Shape::ById { descending } => {
                text += "ORDER BY e.id AS INT ";
                text += direction(descending);
            }
            Shape::ByNumber { descending } => {
                text += "ORDER BY e.data.n ";
                text += direction(descending);
            }
            Shape::Grouped => text += "GROUP BY e.subject ",
            Shape::AsStored | Shape::Distinct => {}
        }
        if let Some(top) = self.top {
            text += &format!("TOP {top} ");
        }
        if let Some(skip) = self.skip {
            text += &format!("SKIP {skip} ");
        }
        text + match self.shape {
            Shape::Grouped => "PROJECT INTO [e.subject, COUNT(), MAX(e.id AS INT)]",
            Shape::Distinct => "PROJECT INTO DISTINCT [e.subject, e.type]",
            _ => "PROJECT INTO e.id AS INT",
        }
    }

    /// Returns the rows, and true if the query ends with an error after them.
    fn expected(&self, events: &[Event]) -> (Vec<String>, bool) {
        let (skip, top) = (self.skip.unwrap_or(0), self.top.unwrap_or(usize::MAX));
        let mut kept = Vec::new();
        let mut failed = false;
        for (id, event) in events.iter().enumerate() {
            match self
                .condition
                .as_ref()
                .map_or(Some(true), |it| it.holds(id, event))
            {
                Some(true) => kept.push((id, event)),
                Some(false) => {}
                None => {
                    failed = true;
                    break;
                }
            }
        }
        let in_turn = matches!(self.shape, Shape::AsStored | Shape::Distinct);
        if failed && !in_turn {
            return (Vec::new(), true);
        }
        let mut rows: Vec<String> = match self.shape {
            Shape::AsStored => kept.iter().map(|(id, _)| id.to_string()).collect(),
            Shape::ById { descending } => {
                if descending {
                    kept.reverse();
                }
                kept.iter().map(|(id, _)| id.to_string()).collect()
            }
            Shape::ByNumber { descending } => {
                kept.sort_by(|left, right| {
                    let order = rank(left.1).partial_cmp(&rank(right.1)).unwrap();
                    if descending { order.reverse() } else { order }
                });
                kept.iter().map(|(id, _)| id.to_string()).collect()
            }
            Shape::Grouped => grouped(&kept),
            Shape::Distinct => distinct(&kept),
        };
        // The executor reads nothing after the last row that the query needs.
        let enough = top == 0 || rows.len() >= skip.saturating_add(top);
        rows = rows.into_iter().skip(skip).take(top).collect();
        (rows, failed && !enough)
    }
}

/// The sort order: null, then numbers, then strings.
fn rank(event: &Event) -> (u8, f64) {
    match &event.n {
        None | Some(Value::Null) => (0, 0.0),
        Some(Value::String(_)) => (2, 0.0),
        Some(number) => (1, number.as_f64().unwrap()),
    }
}

fn grouped(kept: &[(usize, &Event)]) -> Vec<String> {
    let mut groups: Vec<(&str, usize, usize)> = Vec::new();
    for (id, event) in kept {
        match groups.iter_mut().find(|group| group.0 == event.subject) {
            Some(group) => *group = (group.0, group.1 + 1, *id),
            None => groups.push((event.subject, 1, *id)),
        }
    }
    let row = |group: &(&str, usize, usize)| format!("[\"{}\",{},{}]", group.0, group.1, group.2);
    groups.iter().map(row).collect()
}

fn distinct(kept: &[(usize, &Event)]) -> Vec<String> {
    let mut rows = Vec::new();
    for (_, event) in kept {
        let row = format!("[\"{}\",\"{}\"]", event.subject, event.event_type);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

#[test]
fn the_executor_answers_as_the_simplest_evaluation_does_with_hints_and_without() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    proptest!(ProptestConfig::with_cases(2_000), |(events in vec(event(), 0..12), generated_query in generated_query())| {
        let data: Vec<String> = events
            .iter()
            .map(|event| event.n.as_ref().map_or("{}".to_owned(), |n| json!({ "n": n }).to_string()))
            .collect();
        let given: Vec<EventParts<'_>> = events
            .iter()
            .zip(&data)
            .map(|(event, data)| (event.subject, event.event_type, data.as_str()))
            .collect();
        let source = runtime.block_on(source(&given));
        let text = generated_query.text();
        let query = EventQlQuery::parse(&text).unwrap();
        let expected = generated_query.expected(&events);
        for uses_hints in [true, false] {
            let (rows, error) = runtime.block_on(answer(&query, &source, uses_hints));
            prop_assert_eq!((rows, error.is_some()), expected.clone(), "{} with hints: {}", text, uses_hints);
        }
    });
}
