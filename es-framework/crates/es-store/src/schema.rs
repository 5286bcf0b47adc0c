//! The JSON Schema that an event type's data has to follow, once it is registered.

mod references;

use std::{error::Error, fmt};

use jsonschema::{
    PatternOptions, Retrieve, Uri, ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Value, value::RawValue};

use es_event::EventId;

/// The limit of back-tracking steps for a pattern of a schema. Clients send patterns, and some would
/// never end.
const BACKTRACKS: usize = 100_000;

/// A JSON Schema for the data of events.
///
/// ```
/// use es_framework::store::EventSchema;
///
/// let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
/// assert!(EventSchema::parse(schema).is_ok());
/// assert!(EventSchema::parse(r#"{"type":"string"}"#).is_err());
/// ```
pub struct EventSchema {
    text: Box<RawValue>,
    validator: Validator,
}

/// The error for a JSON value that is not a schema of events.
///
/// ```
/// use es_framework::store::EventSchema;
///
/// let error = EventSchema::parse(r#"{"type":"string"}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"invalid schema: /type: value must be "object""#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid schema: {0}")]
pub struct InvalidSchema(String);

/// The data of a candidate or of a stored event contradicts a schema.
///
/// ```
/// use es_framework::store::{EventSchema, SchemaConflict};
/// use serde_json::{json, value::to_raw_value};
///
/// let schema = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
/// let (schema, data) = (EventSchema::parse(schema)?, to_raw_value(&json!({ "title": 42 }))?);
/// let conflict = schema.check(&data).map_err(SchemaConflict::Candidate).unwrap_err();
/// assert!(conflict.to_string().contains("expected string, but got number"), "{conflict}");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaConflict {
    /// A new event does not follow the schema.
    #[error("schema conflict: event candidate does not match schema: {0}")]
    Candidate(String),
    /// An event that was stored before the schema does not follow it.
    #[error("schema conflict: event with ID {id}: {reason}")]
    Event {
        /// The event.
        id: EventId,
        /// The message of the schema validator.
        reason: String,
    },
    /// The type already has a schema, and schemas never change.
    #[error("schema conflict: schema already exists")]
    Exists,
}

impl EventSchema {
    /// Parses a schema. It must describe objects and name their properties. Its references must stay
    /// inside the schema.
    ///
    /// # Errors
    /// The text is not such a schema.
    pub fn parse(json: &str) -> Result<Self, InvalidSchema> {
        let invalid = |reason: &dyn fmt::Display| InvalidSchema(reason.to_string());
        let schema: Value = serde_json::from_str(json).map_err(|error| invalid(&error))?;
        if schema.get("type") != Some(&Value::from("object")) {
            return Err(invalid(&r#"/type: value must be "object""#));
        }
        if schema.get("properties").is_none() {
            return Err(invalid(&"missing properties: 'properties'"));
        }
        references::check(&schema).map_err(|reason| invalid(&reason))?;
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS);
        let validator = jsonschema::options()
            .with_retriever(Nowhere)
            .with_pattern_options(patterns)
            .build(&schema)
            .map_err(|error| invalid(&reason(&error)))?;
        let text = serde_json::value::to_raw_value(&schema).map_err(|error| invalid(&error))?;
        Ok(Self { text, validator })
    }

    /// Returns the schema as JSON.
    #[must_use]
    pub fn json(&self) -> &RawValue {
        &self.text
    }

    /// Checks an event's data.
    ///
    /// # Errors
    /// The data does not follow the schema. The message names the rule and the place.
    pub fn check(&self, data: &RawValue) -> Result<(), String> {
        let data: Value = serde_json::from_str(data.get()).map_err(|error| error.to_string())?;
        self.validator
            .validate(&data)
            .map_err(|error| reason(&error))
    }
}

impl fmt::Debug for EventSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventSchema").field(&self.text).finish()
    }
}

/// The resolver of external references. It refuses all of them, so that no schema makes the server
/// read a file or send a request.
struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err(format!("{uri} leads out of the schema, and nothing is ever fetched").into())
    }
}

/// Describes an error in the words of the original event store, as far as they are known.
fn reason(error: &ValidationError<'_>) -> String {
    let text = match &error.kind {
        ValidationErrorKind::Type {
            kind: TypeKind::Single(expected),
        } => format!("expected {expected}, but got {}", kind_of(&error.instance)),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names: Vec<_> = unexpected.iter().map(|name| format!("'{name}'")).collect();
            format!("additionalProperties {} not allowed", names.join(", "))
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("missing properties: '{name}'")
        }
        // The message contains the rule and not the value, because data may be secret.
        _ => error.masked().to_string(),
    };
    match error.instance_path.as_str() {
        "" => text,
        path => format!("{text} at {path}"),
    }
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(schema: &Value) -> String {
        EventSchema::parse(&schema.to_string())
            .unwrap_err()
            .to_string()
    }

    fn check(schema: &Value, data: &Value) -> Result<(), String> {
        let schema = EventSchema::parse(&schema.to_string()).unwrap();
        schema.check(&serde_json::value::to_raw_value(data).unwrap())
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
            assert_eq!(check(&schema, &data), Err(reason.to_owned()));
        }
    }

    #[test]
    fn a_reference_never_leaves_the_schema() {
        for target in [
            "https://example.com/schema.json",
            "file:///etc/passwd",
            "other.json",
        ] {
            let schema = json!({"type": "object", "properties": {"a": {"properties": {"b": {"$ref": target}}}}});
            let text = refusal(&schema);
            assert!(text.contains("nothing is ever fetched"), "{text}");
            // Also where a base of its own would make it look like a part of the schema.
            let schema = json!({
                "type": "object",
                "properties": {"a": {"$id": target, "$ref": "#/b"}},
            });
            assert!(refusal(&schema).contains("$id"), "{schema}");
            let schema = json!({"$schema": target, "type": "object", "properties": {}});
            assert!(EventSchema::parse(&schema.to_string()).is_err(), "{schema}");
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
    fn a_pattern_that_takes_for_ever_does_not() {
        let schema =
            json!({"type": "object", "properties": {"a": {"pattern": "^(?=(a+)+$)(a+)+$"}}});
        let data = json!({"a": format!("{}!", "a".repeat(5_000))});
        assert!(check(&schema, &data).is_err());
    }
}
