//! Finds each value of a request that its type refuses. serde ends at the first one, so the request is read again
//! without it.

use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_path_to_error::Segment;

use super::{Violation, json_members::JsonMembers};
use es_event::{json_pointer::push_member, time_text};

/// The number of wrong values after which the search ends. It limits what a hostile request costs.
const MAX_READS: usize = 32;

/// Reads JSON, and otherwise says of each value at fault which rule it breaks, and where.
pub(super) fn read_or_find_wrong_values<T: DeserializeOwned>(
    json: &str,
) -> Result<T, Vec<Violation>> {
    let mut value = None;
    let violations = find_wrong_values(json, &mut |json| {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        value = Some(serde_path_to_error::deserialize(&mut deserializer)?);
        Ok(())
    });
    value.filter(|_| violations.is_empty()).ok_or(violations)
}

/// Reads a value of one type, and says where it is at fault.
type ReadFunction<'a> =
    &'a mut dyn FnMut(&str) -> Result<(), serde_path_to_error::Error<serde_json::Error>>;

/// Reads until no value at fault is left.
fn find_wrong_values(json: &str, read: ReadFunction<'_>) -> Vec<Violation> {
    let mut json = json.to_owned();
    let mut removed: Vec<Vec<PathStep>> = Vec::new();
    let mut violations = Vec::new();
    for _ in 0..MAX_READS {
        let Err(error) = read(&json) else {
            break;
        };
        let mut path: Vec<_> = error.path().iter().filter_map(PathStep::of).collect();
        let place = before_removals(&path, &removed);
        let (missing, message) = describe_error(&json, &path, error.inner(), read);
        let mut named = place.clone();
        named.extend(missing.map(PathStep::Member));
        // An object that lacks what was removed from it is not at fault.
        let follows = |gone: &Vec<PathStep>| {
            gone == &named || (gone.len() > named.len() && gone.starts_with(&named))
        };
        if !removed.iter().any(follows) {
            let pointer = pointer(&named);
            violations.push(Violation { pointer, message });
        }
        let Some(rest) = remove_nearest(&json, &mut path) else {
            break;
        };
        removed.push(place.into_iter().take(path.len()).collect());
        json = rest.get().to_owned();
    }
    violations
}

/// One step of the way from the whole value to a value in it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    Member(String),
    Element(usize),
}

impl PathStep {
    fn of(segment: &Segment) -> Option<Self> {
        match segment {
            Segment::Seq { index } => Some(Self::Element(*index)),
            Segment::Map { key: name } | Segment::Enum { variant: name } => {
                Some(Self::Member(name.clone()))
            }
            Segment::Unknown => None,
        }
    }
}

fn pointer(path: &[PathStep]) -> String {
    let mut pointer = String::new();
    for step in path {
        match step {
            PathStep::Member(name) => push_member(&mut pointer, name),
            PathStep::Element(index) => push_member(&mut pointer, &index.to_string()),
        }
    }
    pointer
}

/// Converts a path in what is left to the path in the request: elements behind a removed one have moved.
fn before_removals(path: &[PathStep], removed: &[Vec<PathStep>]) -> Vec<PathStep> {
    let mut place: Vec<PathStep> = Vec::new();
    for step in path {
        let step = match step {
            PathStep::Member(name) => PathStep::Member(name.clone()),
            PathStep::Element(index) => {
                let gone_here = removed.iter().filter_map(|gone| match gone.split_last() {
                    Some((PathStep::Element(index), array)) if array == place => Some(*index),
                    _ => None,
                });
                let mut gone_here: Vec<_> = gone_here.collect();
                gone_here.sort_unstable();
                let skip_gone = |at: usize, gone: usize| at.saturating_add(usize::from(gone <= at));
                PathStep::Element(gone_here.into_iter().fold(*index, skip_gone))
            }
        };
        place.push(step);
    }
    place
}

/// Returns the JSON without the value at a path, or without the nearest value around it. The path is shortened to
/// what was removed. `None` if nothing but the whole is there.
fn remove_nearest(json: &str, path: &mut Vec<PathStep>) -> Option<Box<RawValue>> {
    while !path.is_empty() {
        if let Some(rest) = rewrite(json, path, None) {
            return Some(rest);
        }
        path.pop();
    }
    None
}

/// Returns the JSON with another value at a path, or without the value. What has changed is read before its siblings.
fn rewrite(json: &str, path: &[PathStep], replacement: Option<&str>) -> Option<Box<RawValue>> {
    let Some((first, inside)) = path.split_first() else {
        return RawValue::from_string(replacement?.to_owned()).ok();
    };
    let is_removal = inside.is_empty() && replacement.is_none();
    match first {
        PathStep::Member(name) => {
            let mut members: JsonMembers = serde_json::from_str(json).ok()?;
            let value = members.remove_all(name).pop()?;
            if !is_removal {
                members.push_front(name, rewrite(value.get(), inside, replacement)?);
            }
            to_raw_value(&members).ok()
        }
        PathStep::Element(index) => {
            let mut elements: Vec<Box<RawValue>> = serde_json::from_str(json).ok()?;
            let element = elements.get_mut(*index)?;
            if is_removal {
                elements.remove(*index);
            } else {
                *element = rewrite(element.get(), inside, replacement)?;
            }
            to_raw_value(&elements).ok()
        }
    }
}

/// Returns the name of a member if it is missing, and the rule that is broken.
fn describe_error(
    json: &str,
    path: &[PathStep],
    error: &serde_json::Error,
    read: ReadFunction<'_>,
) -> (Option<String>, String) {
    let message = message_of(error);
    // Serde reports a missing member at its object. A form shows the message at the member.
    let missing = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'));
    match missing {
        Some(member) => (Some(member.to_owned()), "is missing".to_owned()),
        None => {
            let rule = broken_time_rule(json, path, &message, read);
            (None, rule.map_or(message, str::to_owned))
        }
    }
}

/// Returns the message without the line and the column, which the pointer replaces.
fn message_of(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    message.truncate(message.rfind(" at line ").unwrap_or(message.len()));
    message
}

/// Returns the rule of times or dates if the text at the path was refused because of it. A date in its place tells
/// which of them the type has.
fn broken_time_rule(
    json: &str,
    path: &[PathStep],
    message: &str,
    read: ReadFunction<'_>,
) -> Option<&'static str> {
    let body: serde_json::Value = serde_json::from_str(json).ok()?;
    let text = body.pointer(&pointer(path))?.as_str()?;
    if !time_text::is_refusal(text, message) {
        return None;
    }
    let date = rewrite(json, path, Some(&format!("\"{}\"", time_text::ANY_DATE)))?;
    let refused = read(date.get()).err();
    let refused = refused.map(|error| message_of(error.inner()));
    let is_time =
        refused.is_some_and(|message| time_text::is_refusal(time_text::ANY_DATE, &message));
    Some(if is_time {
        time_text::RULE
    } else {
        time_text::DATE_RULE
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only its shape matters")]
    struct Order {
        number: u32,
        paid: bool,
        lines: Vec<Line>,
        corner: (u8, u8),
        by_name: BTreeMap<String, u8>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only its shape matters")]
    struct Line {
        copies: u8,
        title: String,
    }

    fn pointers(json: &str) -> Vec<String> {
        let violations = read_or_find_wrong_values::<Order>(json).unwrap_err();
        let pointers = violations.into_iter().map(|violation| violation.pointer);
        pointers.collect()
    }

    #[test]
    fn every_value_of_a_wrong_type_is_told_at_its_place_in_the_request() {
        let json = r#"{
            "number": "1", "paid": 0, "corner": [1, 2], "by_name": {"a": 1, "b": [], "c": 1e9},
            "lines": [7, {"copies": 1, "title": "x"}, "8", {"copies": "9", "title": 10}]
        }"#;
        let mut found = pointers(json);
        found.sort_unstable();
        let expected = [
            "/by_name/b",
            "/by_name/c",
            "/lines/0",
            "/lines/2",
            "/lines/3/copies",
            "/lines/3/title",
            "/number",
            "/paid",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_lacks_a_removed_value_is_not_at_fault() {
        let json = r#"{"number": 1, "paid": true, "by_name": {}, "corner": ["1", 2], "lines": [{"copies": 1, "title": 2}]}"#;
        let mut found = pointers(json);
        found.sort_unstable();
        assert_eq!(found, ["/corner/0", "/lines/0/title"]);
    }

    #[test]
    fn a_missing_member_is_told_beside_wrong_values() {
        let json = r#"{"paid": 0, "by_name": {}, "corner": [1, 2], "lines": [{"copies": 1}]}"#;
        let mut found = pointers(json);
        found.sort_unstable();
        assert_eq!(found, ["/lines/0/title", "/number", "/paid"]);
    }

    #[test]
    fn a_request_of_many_wrong_values_ends_at_a_limit() {
        let lines = vec!["0"; 1000].join(",");
        let json = format!(
            r#"{{"number": 1, "paid": true, "by_name": {{}}, "corner": [1, 2], "lines": [{lines}]}}"#
        );
        assert_eq!(pointers(&json).len(), MAX_READS);
    }
}
