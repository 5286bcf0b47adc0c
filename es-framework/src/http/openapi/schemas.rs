//! Collects the schemas of requests and responses.

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::{problem_schemas, text::DocComment};

const COMPONENTS: &str = "#/components/schemas/";
/// The prefix of references to request schemas, until all schemas are known.
const REQUESTS: &str = "#/requests/";

/// The schemas of the types in requests and in responses. They differ: a member that is optional in a
/// request, for example, is always present in a response.
#[derive(Debug)]
pub(super) struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = |path: &str| {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = path.to_owned().into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings("/requests").for_deserialize().into_generator(),
            answers: settings("/components/schemas")
                .for_serialize()
                .into_generator(),
        }
    }
}

impl Schemas {
    /// Returns the generator of request schemas.
    pub(super) fn request_generator_mut(&mut self) -> &mut SchemaGenerator {
        &mut self.requests
    }

    /// Returns the generator of response schemas.
    pub(super) fn response_generator_mut(&mut self) -> &mut SchemaGenerator {
        &mut self.answers
    }

    /// Returns the schema of a request. Resolves a reference.
    pub(super) fn resolve_request(&self, schema: &Value) -> Value {
        let name = schema["$ref"].as_str();
        let named = name
            .and_then(|name| name.strip_prefix(REQUESTS))
            .and_then(|name| self.requests.definitions().get(name));
        named.unwrap_or(schema).clone()
    }

    /// Returns the doc comment of a request type.
    pub(super) fn description_of(&self, schema: &Value) -> String {
        let text = self.resolve_request(schema)["description"]
            .as_str()
            .map(str::to_owned);
        text.unwrap_or_default()
    }

    /// Adds all schemas to the document. A type with different schemas in requests and responses gets
    /// a second name for its request schema.
    pub(super) fn into_document(mut self, mut document: Value) -> Value {
        let mut components = self.answers.take_definitions(true);
        let requests = self.requests.take_definitions(true);
        components.insert(
            problem_schemas::SCHEMA.to_owned(),
            problem_schemas::problem_schema(),
        );
        let names: Map<_, _> = requests
            .iter()
            .map(|(name, schema)| {
                let is_other = |known: &Value| *known != at_components(schema.clone());
                let is_taken = components.get(name).is_some_and(is_other);
                let second = if is_taken { "Request" } else { "" };
                (name.clone(), format!("{name}{second}").into())
            })
            .collect();
        for (name, schema) in requests {
            let name = names.get(&name).and_then(Value::as_str).unwrap_or(&name);
            components.insert(name.to_owned(), schema);
        }
        let mut components = components.into();
        each_object(&mut components, &take_examples);
        document["components"]["schemas"] = components;
        each_object(&mut document, &|object| {
            rename(object, &names);
            bound_integers(object);
        });
        // Sorted, because other dependencies of a build can change the order of JSON objects.
        document.sort_all_objects();
        document
    }
}

/// Returns the schema with its references in `components`.
fn at_components(mut schema: Value) -> Value {
    each_object(&mut schema, &|object| rename(object, &Map::new()));
    schema
}

fn each_object(value: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| each_object(value, change)),
        Value::Object(object) => {
            change(object);
            object
                .values_mut()
                .for_each(|value| each_object(value, change));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces the name in an object's reference to a request schema.
fn rename(object: &mut Map<String, Value>, names: &Map<String, Value>) {
    let Some(Value::String(reference)) = object.get_mut("$ref") else {
        return;
    };
    if let Some(name) = reference.strip_prefix(REQUESTS) {
        let name = names.get(name).and_then(Value::as_str).unwrap_or(name);
        *reference = format!("{COMPONENTS}{name}");
    }
}

/// Moves the examples of a doc comment to the schema.
fn take_examples(object: &mut Map<String, Value>) {
    let Some(Value::String(description)) = object.get("description") else {
        return;
    };
    let text = DocComment::read(description);
    if text.examples.is_empty() {
        return;
    }
    let sentences = text.sentences().to_owned();
    object.insert("description".to_owned(), sentences.into());
    object.insert("examples".to_owned(), text.examples.into());
}

/// Adds the bounds of an integer type, because `format` alone is only a hint.
fn bound_integers(object: &mut Map<String, Value>) {
    let (min, max): (i64, i64) = match object.get("format").and_then(Value::as_str) {
        Some("int8") => (i8::MIN.into(), i8::MAX.into()),
        Some("int16") => (i16::MIN.into(), i16::MAX.into()),
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        Some("int64") => (i64::MIN, i64::MAX),
        Some("uint8") => (0, u8::MAX.into()),
        Some("uint16") => (0, u16::MAX.into()),
        Some("uint32") => (0, u32::MAX.into()),
        _ => return,
    };
    object.entry("minimum").or_insert_with(|| min.into());
    object.entry("maximum").or_insert_with(|| max.into());
}
