//! States as lists of values, with the difference to the state before.

use std::collections::BTreeMap;

use axum::extract::Path;
use es_event::{EventId, Subject};
use maud::{Markup, html};
use serde_json::Value;

use crate::{
    console::DeclaredState,
    json_view,
    layout::Section,
    notice::NoticePage,
    page_parts::{event_link, subject_link},
    page_request::{PageRequest, PageResult},
    state_fold::{FoldedState, StateResult, fold_until},
    text_view::shortened,
};

/// The number of values of a state that a timeline shows.
const VALUES: usize = 24;
/// The number of characters of a value in a timeline.
const VALUE: usize = 120;
/// The number of values that are compared. A state with more is shown without a difference.
const COMPARED: usize = 2_000;

/// The values of a state by their paths. An item of a list of plain values is found by the item itself instead
/// of its index, so that an inserted item does not seem to change all that follow it.
type StateValues = BTreeMap<ValueKey, String>;

/// The path of a value, and the item if the value is one of a list of plain values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ValueKey {
    path: String,
    item: Option<(String, usize)>,
}

/// The difference of one value between two states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference<'a> {
    Same,
    Added,
    Changed(&'a str),
    Removed,
}

/// Returns the values of a state by their paths, such as `loans[0].dueAt`; `None` if there are too many.
fn values_of(state: Option<&Value>) -> Option<StateValues> {
    let mut values = StateValues::new();
    match state {
        None => Some(values),
        Some(state) => collect(String::new(), state, &mut values).then_some(values),
    }
}

/// Adds the values below a path. Returns false if there are too many.
fn collect(path: String, value: &Value, values: &mut StateValues) -> bool {
    match value {
        Value::Object(members) if !members.is_empty() => members.iter().all(|(name, member)| {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            collect(path, member, values)
        }),
        Value::Array(items) if !items.is_empty() && items.iter().all(is_plain) => {
            collect_items(&format!("{path}[]"), items, values)
        }
        Value::Array(items) if !items.is_empty() => {
            let mut items = items.iter().enumerate();
            items.all(|(index, item)| collect(format!("{path}[{index}]"), item, values))
        }
        leaf => {
            values.insert(ValueKey { path, item: None }, leaf.to_string());
            values.len() <= COMPARED
        }
    }
}

const fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// Adds the items of a list of plain values. Equal items are counted.
fn collect_items(path: &str, items: &[Value], values: &mut StateValues) -> bool {
    let mut counts = BTreeMap::<String, usize>::new();
    items.iter().all(|item| {
        let text = item.to_string();
        let count = counts.entry(text.clone()).or_default();
        let key = ValueKey {
            path: path.to_owned(),
            item: Some((text.clone(), *count)),
        };
        *count = count.saturating_add(1);
        values.insert(key, text);
        values.len() <= COMPARED
    })
}

/// Returns all values of both states with their differences: first the changed ones.
fn differences<'a>(
    before: &'a StateValues,
    after: &'a StateValues,
) -> Vec<(&'a str, &'a str, Difference<'a>)> {
    let present = after.iter().map(|(key, value)| {
        let difference = match before.get(key) {
            None => Difference::Added,
            Some(same) if same == value => Difference::Same,
            Some(other) => Difference::Changed(other),
        };
        (key.path.as_str(), value.as_str(), difference)
    });
    // An empty list or object is no value that the next state lacks.
    let is_value = |value: &str| !matches!(value, "[]" | "{}");
    let missing = before
        .iter()
        .filter(|(key, value)| !after.contains_key(*key) && is_value(value));
    let removed =
        missing.map(|(key, value)| (key.path.as_str(), value.as_str(), Difference::Removed));
    let mut all: Vec<_> = present.chain(removed).collect();
    all.sort_by_key(|(_, _, difference)| *difference == Difference::Same);
    all
}

/// Renders a state beside the event that led to it.
pub(crate) fn render_step(
    state: DeclaredState,
    subject: &Subject,
    event: EventId,
    folded: &FoldedState<'_>,
    is_snapshot: bool,
) -> Markup {
    let name = state.descriptor.name;
    let address = format!("/console/states/{name}?subject={subject}&event={event}");
    html! {
        div.state {
            h3 {
                a href=(address) title="Show the whole state" { (name) }
                @if folded.is_unchanged() { span.muted { "unchanged" } }
                @if is_snapshot { span.chip title="Commands start from this stored state" { "snapshot" } }
            }
            @match folded.after {
                Err(failure) => p.bad { (shortened(failure, 300)) },
                Ok(after) => (render_changes(folded.before, after.as_ref())),
            }
        }
    }
}

fn render_changes(before: Option<&Value>, after: Option<&Value>) -> Markup {
    let Some((before, after)) = values_of(before).zip(values_of(after)) else {
        return html! { p.muted { "The state has too many values to compare them. Open it to see all." } };
    };
    if after.is_empty() && before.is_empty() {
        return html! { p.muted { "There is no state yet." } };
    }
    let all = differences(&before, &after);
    let more = all.len().saturating_sub(VALUES);
    html! {
        @if after.is_empty() { p.muted { "The state ends." } }
        dl.values {
            @for (path, value, difference) in all.iter().take(VALUES) { (value_row(path, value, *difference)) }
        }
        @if more > 0 { p.muted { "and " (more) " more values" } }
    }
}

fn value_row(path: &str, value: &str, difference: Difference<'_>) -> Markup {
    let (class, label) = match difference {
        Difference::Same => ("same", None),
        Difference::Added => ("added", Some("new")),
        Difference::Changed(_) => ("changed", Some("changed")),
        Difference::Removed => ("removed", Some("removed")),
    };
    html! {
        div class=(class) {
            dt { @if path.is_empty() { "value" } @else { (shortened(path, 80)) } }
            dd {
                @if let Difference::Changed(old) = difference {
                    del { (json_view::leaf(old, VALUE)) } " "
                }
                @if difference == Difference::Removed {
                    del { (json_view::leaf(value, VALUE)) }
                } @else {
                    span.now { (json_view::leaf(value, VALUE)) }
                }
                @if let Some(label) = label { span.label { (label) } }
            }
        }
    }
}

/// Shows the whole state of a subject after an event.
pub(crate) async fn show_state(Path(name): Path<String>, page: PageRequest) -> PageResult {
    let console = page.console();
    let subject: Subject = page.query.required("subject")?;
    let event: EventId = page.query.required("event")?;
    let states = console.states_of(&subject);
    let state = states
        .into_iter()
        .find(|state| state.descriptor.name == name);
    let Some(state) = state else {
        return Err(NoticePage::not_found(format!(
            "The subject {subject} has no state of this name."
        )));
    };
    let after = fold_until(console, &subject, state, event).await?;
    let title = format!("{name} of {subject}");
    let content = render_state(state, &subject, event, &after);
    page.respond(Section::Subjects, &title, &content)
}

fn render_state(
    state: DeclaredState,
    subject: &Subject,
    event: EventId,
    after: &StateResult,
) -> Markup {
    html! {
        div.bar { h1 { (state.descriptor.name) } }
        p {
            "The state of " (subject_link(subject)) " after event " (event_link(event)) "."
        }
        section.card {
            @match after {
                Err(failure) => p.bad { (shortened(failure, 1_000)) },
                Ok(None) => p.muted { "There is no state yet." },
                Ok(Some(value)) => (json_view::pretty(&value.to_string())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_values_come_first() {
        let before = json!({ "reader": "ada", "loans": ["b", "c"], "open": true, "none": [] });
        let after = json!({ "reader": "ada", "loans": ["a", "b"], "open": false, "since": 7 });
        let before = values_of(Some(&before)).unwrap();
        let after = values_of(Some(&after)).unwrap();
        let found = differences(&before, &after);
        assert_eq!(
            found,
            [
                ("loans[]", "\"a\"", Difference::Added),
                ("open", "false", Difference::Changed("true")),
                ("since", "7", Difference::Added),
                ("loans[]", "\"c\"", Difference::Removed),
                ("loans[]", "\"b\"", Difference::Same),
                ("reader", "\"ada\"", Difference::Same),
            ]
        );
    }

    #[test]
    fn a_state_with_too_many_values_is_not_compared() {
        let many = json!((0..3_000).collect::<Vec<_>>());
        assert_eq!(values_of(Some(&many)), None);
        assert!(
            render_changes(None, Some(&many))
                .into_string()
                .contains("too many values")
        );
    }
}
