//! The JSON text that the form of a command begins with.

use es_event::Subject;
use serde_json::{Map, Value, json};

use crate::console::DeclaredCommand;

/// The depth at which the members of a schema are no longer followed.
const DEPTH: usize = 8;

/// Returns the declared example of a command, or an object with the members that its schema requires. The
/// members that the subject names have its values.
pub(crate) fn starting_json(
    command: &DeclaredCommand,
    schema: &Value,
    subject: Option<&Subject>,
) -> String {
    let example = command.example.clone();
    let mut example = example.unwrap_or_else(|| value_of(schema, schema, 0));
    let subject = subject.filter(|subject| command.is_about(subject));
    if let (Some(subject), Value::Object(members)) = (subject, &mut example) {
        fill(members, command.template, subject);
    }
    serde_json::to_string_pretty(&example).unwrap_or_default()
}

/// Sets the members that a template names to the segments of a subject.
fn fill(members: &mut Map<String, Value>, template: &str, subject: &Subject) {
    for (field, segment) in template.split('/').zip(subject.as_str().split('/')) {
        let name = field
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'));
        let Some(member) = name.and_then(|name| members.get_mut(name)) else {
            continue;
        };
        *member = match (&*member, segment.parse::<i64>()) {
            (Value::Number(_), Ok(number)) => number.into(),
            _ => segment.into(),
        };
    }
}

/// Returns a value of the form that a schema describes. It need not be valid.
fn value_of(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > DEPTH {
        return Value::Null;
    }
    let inner = |schema: &Value| value_of(schema, root, depth.saturating_add(1));
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference.strip_prefix('#').unwrap_or_default();
        return root.pointer(pointer).map_or(Value::Null, inner);
    }
    for declared in ["/examples/0", "/const", "/default", "/enum/0"] {
        if let Some(value) = schema.pointer(declared) {
            return value.clone();
        }
    }
    for choice in ["/anyOf/0", "/oneOf/0", "/allOf/0"] {
        if let Some(schema) = schema.pointer(choice) {
            return inner(schema);
        }
    }
    let type_name = schema.pointer("/type/0").or_else(|| schema.get("type"));
    match type_name.and_then(Value::as_str) {
        Some("object") => {
            let required = schema.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            let member = |name: &str| {
                let schema = schema.get("properties")?.get(name)?;
                Some((name.to_owned(), inner(schema)))
            };
            Value::Object(names.filter_map(member).collect())
        }
        Some("array") => json!([]),
        Some("string") => text_of(schema).into(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some(_) | None => Value::Null,
    }
}

fn text_of(schema: &Value) -> &'static str {
    match schema.get("format").and_then(Value::as_str) {
        Some("uuid") => "00000000-0000-0000-0000-000000000000",
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some(_) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(example: Option<Value>) -> DeclaredCommand {
        DeclaredCommand {
            name: "MovePageCommand",
            summary: "",
            documentation: String::new(),
            example,
            template: "/books/{id}/pages/{number}",
            path: None,
            roles: &[],
        }
    }

    fn starting_value(example: Option<Value>, schema: &Value, subject: Option<&str>) -> Value {
        let subject = subject.map(|subject| subject.parse().unwrap());
        let text = starting_json(&command(example), schema, subject.as_ref());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_subject_fills_the_members_that_its_template_names() {
        let example = Some(json!({ "id": "a", "number": 1, "to": 2 }));
        let filled = starting_value(example.clone(), &json!({}), Some("/books/42/pages/7"));
        assert_eq!(filled, json!({ "id": "42", "number": 7, "to": 2 }));
        let other = starting_value(example.clone(), &json!({}), Some("/readers/42"));
        assert_eq!(Some(other), example);
    }

    #[test]
    fn without_an_example_the_schema_names_the_members() {
        let schema = json!({
            "type": "object",
            "required": ["id", "number", "kind", "size", "tags", "isOpen"],
            "properties": {
                "id": { "type": "string", "format": "uuid" },
                "number": { "type": "integer", "minimum": 1 },
                "kind": { "$ref": "#/$defs/Kind" },
                "size": { "type": ["number", "null"] },
                "tags": { "type": "array" },
                "isOpen": { "type": "boolean" },
                "note": { "type": "string" },
            },
            "$defs": { "Kind": { "enum": ["small", "large"] } },
        });
        assert_eq!(
            starting_value(None, &schema, Some("/books/42/pages/7")),
            json!({ "id": "42", "number": 7, "kind": "small", "size": 0, "tags": [], "isOpen": false })
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#" });
        assert_eq!(starting_value(None, &schema, None), Value::Null);
    }
}
