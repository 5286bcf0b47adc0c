//! The rules that the framework adds to the schemas of requests.

use es_event::time_text;
use serde_json::{Map, Value};

/// Adds the rules to a schema and to all schemas inside: a member that is not declared is refused, and a point in time
/// has the years and digits that the framework reads.
pub(super) fn restrict(schema: &mut Value) {
    restrict_schema(schema, false);
}

/// `is_part` is true for a schema that describes only some members of an object.
fn restrict_schema(schema: &mut Value, is_part: bool) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    bound_time(object);
    let has_members = object.contains_key("properties");
    let has_parts = ["allOf", "anyOf", "oneOf", "$ref"]
        .iter()
        .any(|key| object.contains_key(*key));
    let is_open = [
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
    ]
    .iter()
    .any(|key| object.contains_key(*key));
    let are_parts = is_part || has_members || object.contains_key("allOf");
    for (key, value) in object.iter_mut() {
        match key.as_str() {
            "properties" | "patternProperties" | "$defs" => {
                let members = value.as_object_mut().into_iter();
                members.flat_map(Map::values_mut).for_each(restrict);
            }
            "items" | "additionalProperties" | "unevaluatedProperties" => restrict(value),
            "prefixItems" => schemas(value).for_each(restrict),
            "allOf" => schemas(value).for_each(|part| restrict_schema(part, true)),
            "anyOf" | "oneOf" => {
                schemas(value).for_each(|part| restrict_schema(part, are_parts));
            }
            _ => {}
        }
    }
    let is_object = has_members || object.get("type").is_some_and(|name| name == "object");
    if is_object && !is_part && !is_open {
        let key = if has_parts {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        object.insert(key.to_owned(), false.into());
    }
}

fn schemas(list: &mut Value) -> impl Iterator<Item = &mut Value> {
    list.as_array_mut().into_iter().flatten()
}

/// Adds the pattern of a point in time or a date.
fn bound_time(object: &mut Map<String, Value>) {
    let pattern = match object.get("format").and_then(Value::as_str) {
        Some("date-time") => time_text::PATTERN,
        Some("date") => time_text::DATE_PATTERN,
        _ => return,
    };
    object.entry("pattern").or_insert_with(|| pattern.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use es_command::validate::rules::{Pattern, pattern};

    fn restricted(mut schema: Value) -> Value {
        restrict(&mut schema);
        schema
    }

    #[test]
    fn every_object_of_a_request_refuses_other_members() {
        let line =
            || json!({ "type": "object", "properties": { "copies": { "type": "integer" } } });
        let mut closed = line();
        closed["additionalProperties"] = false.into();
        assert_eq!(restricted(line()), closed);
        for (open, expected) in [
            (
                json!({ "type": "array", "items": line() }),
                json!({ "type": "array", "items": closed }),
            ),
            (
                json!({ "type": "object", "additionalProperties": line() }),
                json!({ "type": "object", "additionalProperties": closed }),
            ),
            (
                json!({ "oneOf": [line(), { "type": "string" }] }),
                json!({ "oneOf": [closed, { "type": "string" }] }),
            ),
            (
                json!({ "properties": { "a": line() }, "oneOf": [line()] }),
                json!({ "properties": { "a": closed }, "oneOf": [line()], "unevaluatedProperties": false }),
            ),
        ] {
            assert_eq!(restricted(open), expected);
        }
    }

    #[test]
    fn a_map_and_any_json_stay_open() {
        for schema in [
            json!({ "type": "object", "additionalProperties": true }),
            json!({ "type": "object", "patternProperties": { "^[0-9]+$": { "type": "string" } } }),
            json!(true),
            json!({ "type": "string" }),
        ] {
            assert_eq!(restricted(schema.clone()), schema);
        }
    }

    #[test]
    fn a_date_has_the_form_that_is_read() {
        let schema = restricted(json!({ "type": "string", "format": "date" }));
        static PATTERN: Pattern = Pattern::new(time_text::DATE_PATTERN);
        assert_eq!(schema["pattern"], time_text::DATE_PATTERN);
        let is_match = |text: &str| pattern(&text.to_owned(), &PATTERN).is_ok();
        assert!(is_match("2026-07-01"));
        assert!(!is_match("2026-07-01T12:00:00Z") && !is_match("-000001-01-01"));
    }

    #[test]
    fn a_point_in_time_has_the_form_that_is_read() {
        let schema = restricted(json!({ "type": "string", "format": "date-time" }));
        assert_eq!(schema["pattern"], time_text::PATTERN);
        static PATTERN: Pattern = Pattern::new(time_text::PATTERN);
        let is_match = |text: &str| pattern(&text.to_owned(), &PATTERN).is_ok();
        for text in [
            "2026-07-01T12:00:00Z",
            "0001-01-01T00:00:00+23:59",
            "9998-12-31T23:59:59.999999999-23:59",
        ] {
            assert!(is_match(text), "{text}");
            let time: jiff::Timestamp = text.parse().unwrap();
            assert_eq!(time_text::check_time(time), Ok(()), "{text}");
        }
        for text in [
            "9999-12-31T23:59:59Z",
            "2026-07-01T12:00:00.0123456789Z",
            "-000001-01-01T00:00:00Z",
            "0000-01-01T00:00:00+01:00",
        ] {
            assert!(!is_match(text), "{text}");
        }
    }
}
