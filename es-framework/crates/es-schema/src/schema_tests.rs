//! Tests which schemas are accepted, and the messages about data that breaks them.

use serde_json::json;

use super::*;

fn refusal(schema: &Value) -> String {
    JsonSchema::parse(&schema.to_string()).err().unwrap()
}

fn check(schema: &Value, data: &Value) -> Result<(), CheckFailure> {
    let schema = JsonSchema::parse(&schema.to_string()).unwrap();
    check_compiled(&schema, data)
}

fn check_compiled(schema: &JsonSchema, data: &Value) -> Result<(), CheckFailure> {
    let data = serde_json::value::to_raw_value(data).unwrap();
    schema.check(&data, &mut 5_000_000)
}

#[test]
fn a_schema_is_one_of_objects_and_names_their_properties() {
    for no_object in [
        json!({"type": "gurkenwasser", "properties": {}}),
        json!({"x": "asd"}),
        json!("object"),
        json!(true),
    ] {
        let text = refusal(&no_object);
        assert!(text.contains(r#"value must be "object""#), "{text}");
    }
    assert!(refusal(&json!({"type": "object"})).contains("missing properties"));
    for broken in [
        json!({"type": "object", "properties": 1}),
        json!({"type": "object", "properties": {"a": {"type": "gurke"}}}),
        json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
    ] {
        assert!(refusal(&broken).len() > 20);
    }
}

#[test]
fn what_is_wrong_with_data_is_said_and_where() {
    let schema = json!({
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
        "additionalProperties": false,
    });
    assert_eq!(check(&schema, &json!({"title": "DDD"})), Ok(()));
    for (data, reason) in [
        (
            json!({"title": 1}),
            "expected string, but got number at /title",
        ),
        (json!({}), "missing properties: 'title'"),
        (
            json!({"title": "", "oy": 1}),
            "additionalProperties 'oy' not allowed",
        ),
    ] {
        let mismatch = CheckFailure::Mismatch(reason.to_owned());
        assert_eq!(check(&schema, &data), Err(mismatch));
    }
}

#[test]
fn a_reference_never_leaves_the_schema() {
    for target in [
        "https://example.com/schema.json",
        "file:///etc/passwd",
        "other.json",
    ] {
        let schema =
            json!({"type": "object", "properties": {"a": {"properties": {"b": {"$ref": target}}}}});
        let text = refusal(&schema);
        assert!(text.contains("nothing is ever fetched"), "{text}");
        // Also where a base of its own would make it look like a part of the schema.
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$id": target, "$ref": "#/b"}},
        });
        assert!(refusal(&schema).contains("$id"), "{schema}");
        let schema = json!({"$schema": target, "type": "object", "properties": {}});
        assert!(JsonSchema::parse(&schema.to_string()).is_err(), "{schema}");
    }
}

#[test]
fn references_within_the_schema_may_recur_but_not_run_in_circles() {
    let tree = json!({
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "name": {"$ref": "#/$defs/name"}},
        "$defs": {"name": {"type": "string"}},
    });
    assert_eq!(check(&tree, &json!({"next": {"name": "a"}})), Ok(()));
    assert!(check(&tree, &json!({"next": {"next": {"name": 1}}})).is_err());
    for circle in [
        json!({"type": "object", "properties": {}, "$ref": "#"}),
        json!({"type": "object", "properties": {}, "allOf": [{"$ref": "#"}]}),
        json!({"type": "object", "properties": {}, "not": {"anyOf": [{"$ref": "#"}]}}),
        json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        }),
    ] {
        assert!(refusal(&circle).contains("circle"), "{circle}");
    }
}

#[test]
fn only_stored_schemas_have_patterns_that_need_back_tracking() {
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "^(?=(a+)+$)(a+)+$"}}});
    assert!(refusal(&schema).contains("pattern"));
    let stored = JsonSchema::parse_stored(&schema.to_string()).unwrap();
    assert_eq!(check_compiled(&stored, &json!({ "a": "aaa" })), Ok(()));
    let endless = json!({ "a": format!("{}!", "a".repeat(5_000)) });
    assert!(check_compiled(&stored, &endless).is_err());
}
