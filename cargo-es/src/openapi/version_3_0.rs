//! The document in the form of OpenAPI 3.0, for generators that do not read version 3.1.
//!
//! The schemas of version 3.1 are JSON Schema 2020-12. Version 3.0 has a dialect of its own: no list of types, no
//! `const`, no null type, one example (OpenAPI 3.0.3, section 4.7.24).

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{RecursiveTransform, Transform as _},
};
use serde_json::{Map, Value};

/// The version of the specification that the converted document follows.
const OPENAPI: &str = "3.0.3";

/// Converts a document of version 3.1.
pub(super) fn convert(mut document: Value) -> Value {
    document["openapi"] = OPENAPI.into();
    convert_schemas(&mut document);
    for operation in members(&mut document["paths"]).flat_map(members) {
        let responses = operation["responses"].as_object_mut();
        for (status, response) in responses.into_iter().flatten() {
            if status.starts_with(['4', '5']) {
                generalize_json(response);
            }
        }
    }
    document
}

/// Replaces the media type of a JSON response to a failed request by a range that contains it. The generator
/// `progenitor` has one type for all failures of an operation, and problems have another media type.
fn generalize_json(response: &mut Value) {
    let content = response.get_mut("content").and_then(Value::as_object_mut);
    if let Some(content) = content
        && let Some(media_type) = content.remove("application/json")
    {
        content.insert("application/*".to_owned(), media_type);
    }
}

/// Converts every schema below a part of the document.
fn convert_schemas(part: &mut Value) {
    match part {
        Value::Object(object) => {
            for (name, value) in object {
                match name.as_str() {
                    "schema" => convert_schema(value),
                    "schemas" => members(value).for_each(convert_schema),
                    // An example can have members with these names.
                    "example" | "examples" => {}
                    _ => convert_schemas(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(convert_schemas),
        _ => {}
    }
}

fn convert_schema(value: &mut Value) {
    let Ok(schema) = <&mut Schema>::try_from(value) else {
        return;
    };
    RecursiveTransform(replace_choices).transform(schema);
    for transform in &mut SchemaSettings::openapi3().transforms {
        transform.transform(schema);
    }
}

/// Replaces what `schemars` leaves in the form of version 3.1: a choice between a schema and null, and a choice
/// between types.
fn replace_choices(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        make_nullable(object);
        split_types(object);
    }
}

/// Turns `anyOf` with a null type into `nullable`.
fn make_nullable(object: &mut Map<String, Value>) {
    let Some(choices) = object.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return;
    };
    let num_choices = choices.len();
    choices.retain(|choice| choice["type"] != "null");
    if choices.len() == num_choices {
        return;
    }
    // One schema is not a choice. `$ref` alone could have no `nullable` beside it.
    if choices.len() == 1
        && let Some(only) = object.remove("anyOf")
    {
        object.insert("allOf".to_owned(), only);
    }
    object.insert("nullable".to_owned(), true.into());
}

/// Turns a list of several types into `anyOf`, and a null type among them into `nullable`.
fn split_types(object: &mut Map<String, Value>) {
    let list = object.get("type").and_then(Value::as_array);
    let types = list.into_iter().flatten().cloned();
    let (nulls, names): (Vec<_>, Vec<_>) = types.partition(|name| name == "null");
    if names.len() < 2 || object.contains_key("anyOf") {
        return;
    }
    let choices = names.into_iter().map(|name| {
        let choice: Map<_, _> = [("type".to_owned(), name)].into_iter().collect();
        Value::Object(choice)
    });
    let any_of = choices.collect();
    object.remove("type");
    object.insert("anyOf".to_owned(), Value::Array(any_of));
    if !nulls.is_empty() {
        object.insert("nullable".to_owned(), true.into());
    }
}

/// Returns the values of an object, and nothing of another value.
fn members(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value
        .as_object_mut()
        .into_iter()
        .flatten()
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(mut schema: Value) -> Value {
        convert_schema(&mut schema);
        schema
    }

    #[test]
    fn a_null_type_becomes_nullable() {
        let text = json!({ "type": ["string", "null"], "format": "uuid" });
        let expected = json!({ "type": "string", "format": "uuid", "nullable": true });
        assert_eq!(converted(text), expected);
        let problem = json!({ "$ref": "#/components/schemas/Problem" });
        let optional = json!({ "anyOf": [problem, { "type": "null" }] });
        let expected = json!({ "allOf": [problem], "nullable": true });
        assert_eq!(converted(optional), expected);
    }

    #[test]
    fn several_types_become_a_choice() {
        let number = json!({ "properties": { "price": { "type": ["string", "number", "null"] } } });
        let choice =
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }], "nullable": true });
        assert_eq!(
            converted(number),
            json!({ "properties": { "price": choice } })
        );
    }

    #[test]
    fn a_constant_becomes_an_enum_and_the_first_example_stays() {
        let status = json!({ "const": 422, "examples": [422, 423] });
        assert_eq!(converted(status), json!({ "enum": [422], "example": 422 }));
    }

    #[test]
    fn examples_stay_as_they_are() {
        let example = json!({ "schema": { "const": "a" } });
        let content =
            json!({ "application/json": { "schema": { "const": "a" }, "example": example } });
        let failed = json!({ "content": content });
        let document = json!({
            "openapi": "3.1.1",
            "paths": { "/a": { "get": { "responses": { "200": failed, "503": failed } } } },
        });
        let converted = convert(document);
        assert_eq!(converted["openapi"], "3.0.3");
        let responses = &converted["paths"]["/a"]["get"]["responses"];
        let expected = json!({ "schema": { "enum": ["a"] }, "example": example });
        assert_eq!(
            responses["200"]["content"],
            json!({ "application/json": expected })
        );
        assert_eq!(
            responses["503"]["content"],
            json!({ "application/*": expected })
        );
    }
}
