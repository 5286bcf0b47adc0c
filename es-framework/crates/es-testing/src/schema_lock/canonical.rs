//! The canonical form of a JSON schema: without doc comments and names of Rust types, and sorted.

use serde_json::{Map, Value};

/// The keyword that contains definitions of types.
pub(super) const DEFINITIONS: &str = "$defs";
/// The prefix of a reference to a definition.
const REFERENCE: &str = "#/$defs/";

/// Keywords that do not restrict the valid values.
const ANNOTATIONS: [&str; 10] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentMediaType",
];
/// Keywords whose value maps names to schemas.
const BY_NAME: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a schema.
const SINGLE: [&str; 11] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Returns the canonical form of a schema. Definitions are inlined; only recursive types remain
/// definitions.
pub(super) fn canonicalize(schema: &Value) -> Value {
    let empty = Map::new();
    let definitions = schema.get(DEFINITIONS).and_then(Value::as_object);
    let mut writer = CanonicalWriter {
        definitions: definitions.unwrap_or(&empty),
        open: vec![],
        recursive: Map::new(),
    };
    let mut written = writer.write(schema);
    if let Value::Object(object) = &mut written
        && !writer.recursive.is_empty()
    {
        object.insert(DEFINITIONS.to_owned(), sorted(writer.recursive));
    }
    written
}

/// Returns the name of the definition that a `$ref` refers to.
pub(super) fn referenced_name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(REFERENCE)
}

/// Writes a schema in its canonical form.
struct CanonicalWriter<'a> {
    definitions: &'a Map<String, Value>,
    /// The definitions that are being inlined.
    open: Vec<&'a str>,
    /// The recursive definitions.
    recursive: Map<String, Value>,
}

impl<'a> CanonicalWriter<'a> {
    /// Returns the canonical form of a subschema.
    fn write(&mut self, schema: &'a Value) -> Value {
        let Value::Object(object) = schema else {
            return schema.clone();
        };
        let referenced_name =
            referenced_name(schema).and_then(|name| self.definitions.get_key_value(name));
        let definition =
            referenced_name.map(|(name, definition)| self.write_definition(name, definition));
        let is_known = definition.is_some();
        let is_kept =
            |key: &str| !is_annotation(key) && key != DEFINITIONS && !(is_known && key == "$ref");
        let beside: Vec<_> = object
            .iter()
            .filter(|(key, _)| is_kept(key))
            .map(|(key, value)| (key.clone(), self.write_keyword(key, value)))
            .collect();
        let mut members: Vec<(String, Value)> = match definition {
            Some(Value::Object(definition)) => definition
                .into_iter()
                .filter(|(key, _)| beside.iter().all(|(other, _)| other != key))
                .chain(beside.iter().cloned())
                .collect(),
            Some(definition) => return definition,
            None => beside,
        };
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        one_of_values(members.into_iter().collect())
    }

    fn write_definition(&mut self, name: &'a str, definition: &'a Value) -> Value {
        let reference = || serde_json::json!({ "$ref": format!("{REFERENCE}{name}") });
        if self.recursive.contains_key(name) {
            return reference();
        }
        if self.open.contains(&name) {
            // The code below replaces this placeholder by the definition.
            self.recursive.insert(name.to_owned(), Value::Null);
            return reference();
        }
        self.open.push(name);
        let written = self.write(definition);
        self.open.pop();
        match self.recursive.get_mut(name) {
            Some(slot) => {
                *slot = written;
                reference()
            }
            None => written,
        }
    }

    fn write_keyword(&mut self, key: &str, value: &'a Value) -> Value {
        match value {
            Value::Object(schemas) if BY_NAME.contains(&key) => {
                let schemas = schemas.iter();
                sorted(
                    schemas
                        .map(|(name, schema)| (name.clone(), self.write(schema)))
                        .collect(),
                )
            }
            Value::Array(schemas) if LISTS.contains(&key) => {
                schemas.iter().map(|schema| self.write(schema)).collect()
            }
            Value::Object(_) if SINGLE.contains(&key) => self.write(value),
            Value::Array(values) if matches!(key, "required" | "enum" | "type") => {
                ordered(values.clone())
            }
            value => value.clone(),
        }
    }
}

fn is_annotation(key: &str) -> bool {
    ANNOTATIONS.contains(&key)
}

/// Sorts the members of an object by name.
fn sorted(object: Map<String, Value>) -> Value {
    let mut members: Vec<_> = object.into_iter().collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    Value::Object(members.into_iter().collect())
}

/// Sorts the elements of an array by their JSON.
fn ordered(mut values: Vec<Value>) -> Value {
    values.sort_by_cached_key(Value::to_string);
    Value::Array(values)
}

/// Converts a `oneOf` of single values to an `enum`. schemars writes the former for enums whose
/// variants have doc comments.
fn one_of_values(mut object: Map<String, Value>) -> Value {
    if let Some(value) = object.remove("const") {
        object.insert("enum".to_owned(), Value::Array(vec![value]));
    }
    let Some(Value::Array(branches)) = object.get("oneOf") else {
        return Value::Object(object);
    };
    let mut values = vec![];
    for branch in branches {
        let is_text = branch.get("type").is_none_or(|kind| kind == "string");
        match (branch.get("enum"), branch.as_object()) {
            (Some(Value::Array(some)), Some(keys)) if is_text && keys.len() <= 2 => {
                values.extend(some.iter().cloned());
            }
            _ => return Value::Object(object),
        }
    }
    object.remove("oneOf");
    object.insert("enum".to_owned(), ordered(values));
    object.insert("type".to_owned(), "string".into());
    sorted(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn doc_comments_and_order_make_no_difference() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "BookPurchasedEvent",
            "description": "A copy was added.",
            "type": "object",
            "required": ["title", "id"],
            "properties": {
                "title": { "type": ["string", "null"], "description": "What is on the cover." },
                "id": { "type": "string", "format": "uuid" },
            },
        });
        let expected = json!({
            "properties": {
                "id": { "format": "uuid", "type": "string" },
                "title": { "type": ["null", "string"] },
            },
            "required": ["id", "title"],
            "type": "object",
        });
        assert_eq!(canonicalize(&schema).to_string(), expected.to_string());
    }

    #[test]
    fn an_enum_is_the_same_with_doc_comments_and_without() {
        let with = json!({ "oneOf": [
            { "type": "string", "const": "soft", "description": "Paper." },
            { "type": "string", "enum": ["hard", "audio"] },
        ] });
        let without = json!({ "type": "string", "enum": ["audio", "hard", "soft"] });
        assert_eq!(canonicalize(&with), canonicalize(&without));
    }

    #[test]
    fn the_name_of_a_type_makes_no_difference() {
        let named = |name: &str| {
            json!({
                "properties": { "cover": { "$ref": format!("#/$defs/{name}"), "description": "c" } },
                "$defs": { name: { "type": "string", "enum": ["hard"] } },
            })
        };
        assert_eq!(
            canonicalize(&named("Cover")),
            canonicalize(&named("Binding"))
        );
    }

    #[test]
    fn what_stands_beside_a_reference_is_kept() {
        let schema = json!({
            "properties": { "isbn": { "$ref": "#/$defs/Isbn", "examples": ["x"], "maxLength": 3 } },
            "$defs": { "Isbn": { "type": "string", "maxLength": 9 } },
        });
        assert_eq!(
            canonicalize(&schema)["properties"]["isbn"],
            json!({ "examples": ["x"], "maxLength": 3, "type": "string" })
        );
    }

    #[test]
    fn a_type_that_holds_itself_stays_a_definition() {
        let schema = json!({
            "properties": { "root": { "$ref": "#/$defs/Shelf" } },
            "$defs": {
                "Shelf": {
                    "type": "object",
                    "description": "d",
                    "properties": { "below": { "type": "array", "items": { "$ref": "#/$defs/Shelf" } } },
                },
            },
        });
        let canonical = canonicalize(&schema);
        assert_eq!(canonical["properties"]["root"]["$ref"], "#/$defs/Shelf");
        let shelf = &canonical["$defs"]["Shelf"];
        assert_eq!(
            shelf["properties"]["below"]["items"]["$ref"],
            "#/$defs/Shelf"
        );
        assert!(shelf.get("description").is_none());
    }
}
