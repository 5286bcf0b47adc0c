//! The form of schemas for which client generators have types.

use es_event::integer_format;
use serde_json::{Map, Value};

/// Rewrites an object if it is a schema.
pub(super) fn rewrite_schema(object: &mut Map<String, Value>) {
    bound_integer(object);
    merge_constants(object);
}

/// Adds the bounds of an integer type, because `format` alone is only a hint, and replaces its format by
/// `int32` or `int64`, because generators know no others.
fn bound_integer(object: &mut Map<String, Value>) {
    let format = object.get("format").and_then(Value::as_str);
    let Some(range) = format.and_then(integer_format::range) else {
        return;
    };
    let (min, max) = range.into_inner();
    let is_small = i32::try_from(min).is_ok() && i32::try_from(max).is_ok();
    let format = if is_small { "int32" } else { "int64" };
    object.insert("format".to_owned(), format.into());
    // A bound beyond `i64` would be no use to a generator that knows no larger integers.
    for (name, bound) in [("minimum", min), ("maximum", max)] {
        if let Ok(bound) = i64::try_from(bound) {
            object.entry(name).or_insert_with(|| bound.into());
        }
    }
}

/// Turns a choice of constant texts into an `enum`, and their descriptions into a list.
fn merge_constants(object: &mut Map<String, Value>) {
    let choices = object.get("oneOf").and_then(Value::as_array);
    let values: Option<Vec<_>> = choices.and_then(|choices| choices.iter().map(texts).collect());
    let Some(values) = values else {
        return;
    };
    let described = choices.into_iter().flatten().filter_map(|choice| {
        let value = choice.get("const")?.as_str()?;
        let description = choice.get("description")?.as_str()?;
        Some(format!("- `{value}`: {description}"))
    });
    let list: Vec<_> = described.collect();
    let description = object.get("description").and_then(Value::as_str);
    let paragraphs: Vec<_> = description
        .map(str::to_owned)
        .into_iter()
        .chain((!list.is_empty()).then(|| list.join("\n")))
        .collect();
    object.remove("oneOf");
    object.insert("type".to_owned(), "string".into());
    object.insert("enum".to_owned(), values.concat().into());
    if !paragraphs.is_empty() {
        object.insert("description".to_owned(), paragraphs.join("\n\n").into());
    }
}

/// Returns the texts that a schema allows, if it allows nothing else.
fn texts(schema: &Value) -> Option<Vec<Value>> {
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        (None, _) => return None,
    };
    values.iter().all(Value::is_string).then_some(values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rewritten(mut schema: Value) -> Value {
        rewrite_schema(schema.as_object_mut().unwrap());
        schema
    }

    #[test]
    fn every_integer_type_has_a_format_that_generators_know() {
        let integer = |format: &str| rewritten(json!({ "type": "integer", "format": format }));
        let small = json!({ "type": "integer", "format": "int32", "minimum": 0, "maximum": 255 });
        assert_eq!(integer("uint8"), small);
        let wide =
            json!({ "type": "integer", "format": "int64", "minimum": 0, "maximum": u32::MAX });
        assert_eq!(integer("uint32"), wide);
        let count = json!({ "type": "integer", "format": "int64", "minimum": 0 });
        assert_eq!(integer("uint64"), count);
        let text = json!({ "type": "string", "format": "uuid" });
        assert_eq!(rewritten(text.clone()), text);
    }

    #[test]
    fn constants_become_an_enum_that_keeps_their_descriptions() {
        let status = json!({
            "description": "The status.",
            "oneOf": [
                { "const": "UP", "type": "string", "description": "It works." },
                { "enum": ["DOWN"], "type": "string" },
            ],
        });
        let description = "The status.\n\n- `UP`: It works.";
        let expected =
            json!({ "description": description, "enum": ["UP", "DOWN"], "type": "string" });
        assert_eq!(rewritten(status), expected);
        let shapes = json!({ "oneOf": [{ "type": "object" }, { "const": "none" }] });
        assert_eq!(rewritten(shapes.clone()), shapes);
    }
}
