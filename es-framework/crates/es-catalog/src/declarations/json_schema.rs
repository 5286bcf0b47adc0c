//! The JSON schemas and the documentation of nodes.

use es_read::projection::{ColumnDescriptor, ColumnKind};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The prefix of references inside a schema.
const DEFINITIONS: &str = "#/$defs/";

/// Returns the schema of a type in requests, complete in itself.
pub(crate) fn of_request(schema: impl FnOnce(&mut SchemaGenerator) -> Schema) -> Value {
    complete(settings().for_deserialize().into_generator(), schema)
}

/// Returns the schema of a type in responses, complete in itself.
pub(crate) fn of_response(schema: impl FnOnce(&mut SchemaGenerator) -> Schema) -> Value {
    complete(settings().for_serialize().into_generator(), schema)
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}

/// Replaces the reference to the type itself by its schema, and adds the schemas that it refers to.
fn complete(
    mut generator: SchemaGenerator,
    schema: impl FnOnce(&mut SchemaGenerator) -> Schema,
) -> Value {
    let schema = schema(&mut generator).to_value();
    let mut definitions = generator.take_definitions(true);
    let reference = schema.get("$ref").and_then(Value::as_str);
    let name = reference.and_then(|reference| reference.strip_prefix(DEFINITIONS));
    let own = name.and_then(|name| definitions.remove(name));
    let mut whole = own.unwrap_or(schema);
    if let Value::Object(members) = &mut whole
        && !definitions.is_empty()
    {
        members.insert("$defs".to_owned(), Value::Object(definitions));
    }
    whole
}

/// Returns the schema of a row from its columns.
pub(crate) fn of_columns(columns: &[ColumnDescriptor]) -> Value {
    let column = |column: &ColumnDescriptor| {
        let schema = match column.kind {
            ColumnKind::Text | ColumnKind::Name => json!({ "type": "string" }),
            ColumnKind::Integer => json!({ "type": "integer" }),
            ColumnKind::Real => json!({ "type": "number" }),
            ColumnKind::Boolean => json!({ "type": "boolean" }),
            ColumnKind::Timestamp => json!({ "type": "string", "format": "date-time" }),
            ColumnKind::Date => json!({ "type": "string", "format": "date" }),
            ColumnKind::Json => json!({}),
        };
        (column.member.to_owned(), schema)
    };
    let properties: Map<_, _> = columns.iter().map(column).collect();
    json!({ "type": "object", "properties": properties })
}

/// Returns the first sentence of the description in a schema, and the whole description.
pub(crate) fn summary_and_description(schema: &Value) -> (String, String) {
    let description = schema.get("description").and_then(Value::as_str);
    let text = description.unwrap_or_default().to_owned();
    (first_sentence(&text), text)
}

fn first_sentence(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => line,
    }
}
