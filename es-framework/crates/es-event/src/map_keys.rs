//! Describes the keys of maps in JSON schemas.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

/// Adds the keys of the type `K` to the schema of a map, where the schema of the type says more of them than that
/// they are texts. schemars has described keys with a pattern, enums and whole numbers.
pub fn describe_keys<K: JsonSchema>(schema: &mut Schema) {
    let key = K::json_schema(&mut SchemaGenerator::default());
    let names = match (key.get("type").and_then(Value::as_str), key.get("format")) {
        // JSON has only texts as keys.
        (Some("boolean"), _) => json!({ "enum": ["false", "true"] }),
        (Some("string"), Some(format)) if key.get("pattern").is_none() => {
            json!({ "type": "string", "format": format })
        }
        _ => return,
    };
    schema.insert("propertyNames".to_owned(), names);
}

/// Changes the part of a schema at a JSON pointer, if there is one.
pub fn change_subschema(schema: &mut Schema, pointer: &str, change: impl FnOnce(&mut Schema)) {
    let part = schema.pointer_mut(pointer);
    if let Some(part) = part.and_then(|part| <&mut Schema>::try_from(part).ok()) {
        change(part);
    }
}
