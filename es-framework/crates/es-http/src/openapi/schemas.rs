//! Collects the schemas of requests and responses.

use std::collections::BTreeMap;

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{doc_comment::DocComment, generator_form, request_schema};

const COMPONENTS: &str = "#/components/schemas/";
/// The prefixes of references to request schemas and to handwritten schemas, until all schemas are known.
const REQUESTS: &str = "#/requests/";
const HANDWRITTEN: &str = "#/handwritten/";

/// The schemas of the types in requests and in responses. They differ: a member that is optional in a
/// request, for example, is always present in a response.
#[derive(Debug)]
pub(crate) struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
    /// The schemas that no Rust type has, by name.
    handwritten: BTreeMap<String, Value>,
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
            handwritten: BTreeMap::new(),
        }
    }
}

/// Returns the `$ref` to a handwritten schema.
pub(super) fn handwritten_schema_reference(name: &str) -> Value {
    json!({ "$ref": format!("{HANDWRITTEN}{name}") })
}

impl Schemas {
    /// Adds a schema that no Rust type has, and returns a reference to it. Client generators make one type
    /// of each name. A second schema of the same name gets a number.
    pub(crate) fn add(&mut self, name: &str, schema: Value) -> Value {
        let mut free = name.to_owned();
        let mut number = 2_u32;
        while self
            .handwritten
            .get(&free)
            .is_some_and(|other| *other != schema)
        {
            free = format!("{name}{number}");
            number = number.saturating_add(1);
        }
        let reference = handwritten_schema_reference(&free);
        self.handwritten.insert(free, schema);
        reference
    }

    /// Returns the generator of request schemas.
    pub(super) fn request_generator_mut(&mut self) -> &mut SchemaGenerator {
        &mut self.requests
    }

    /// Returns the generator of response schemas.
    pub(super) fn response_generator_mut(&mut self) -> &mut SchemaGenerator {
        &mut self.answers
    }

    /// Returns the schema of a request. Resolves a reference.
    pub(super) fn resolve_request_schema(&self, schema: &Value) -> Value {
        let name = schema["$ref"].as_str();
        let named = name
            .and_then(|name| name.strip_prefix(REQUESTS))
            .and_then(|name| self.requests.definitions().get(name));
        named.unwrap_or(schema).clone()
    }

    /// Returns the doc comment of a request type.
    pub(super) fn request_description(&self, schema: &Value) -> String {
        let text = self.resolve_request_schema(schema)["description"]
            .as_str()
            .map(str::to_owned);
        text.unwrap_or_default()
    }

    /// Adds all schemas to the document. If two kinds of schemas have the same name, the request schema and
    /// the handwritten schema get a second name.
    pub(super) fn add_to_document(mut self, mut document: Value) -> Value {
        let mut components = self.answers.take_definitions(true);
        let requests = self.requests.take_definitions(true);
        let mut names = BTreeMap::new();
        for (name, mut schema) in requests {
            request_schema::restrict(&mut schema);
            let second = format!("{name}Request");
            add_named(
                &mut components,
                &mut names,
                REQUESTS,
                (name, second),
                schema,
            );
        }
        for (name, schema) in self.handwritten {
            let second = format!("Framework{name}");
            add_named(
                &mut components,
                &mut names,
                HANDWRITTEN,
                (name, second),
                schema,
            );
        }
        let mut components = components.into();
        each_object(&mut components, &move_doc_examples);
        document["components"]["schemas"] = components;
        each_object(&mut document, &|object| {
            rename(object, &names);
            generator_form::rewrite_schema(object);
        });
        // Sorted, because other dependencies of a build can change the order of JSON objects.
        document.sort_all_objects();
        document
    }
}

/// Adds a schema under its first name, or under its second name if another schema has the first one.
fn add_named(
    components: &mut Map<String, Value>,
    names: &mut BTreeMap<String, String>,
    prefix: &str,
    (first, second): (String, String),
    schema: Value,
) {
    let is_other = |known: &Value| at_components(known.clone()) != at_components(schema.clone());
    let is_taken = components.get(&first).is_some_and(is_other);
    let name = if is_taken { second } else { first.clone() };
    names.insert(format!("{prefix}{first}"), name.clone());
    components.insert(name, schema);
}

/// Returns the schema with its references in `components`.
fn at_components(mut schema: Value) -> Value {
    each_object(&mut schema, &|object| rename(object, &BTreeMap::new()));
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

/// Makes an object's reference to a schema one to `components`.
fn rename(object: &mut Map<String, Value>, names: &BTreeMap<String, String>) {
    let Some(Value::String(reference)) = object.get_mut("$ref") else {
        return;
    };
    let mut prefixes = [REQUESTS, HANDWRITTEN].into_iter();
    if let Some(name) = prefixes.find_map(|prefix| reference.strip_prefix(prefix)) {
        let name = names.get(reference).map_or(name, String::as_str);
        *reference = format!("{COMPONENTS}{name}");
    }
}

/// Moves the examples of a doc comment to the schema.
pub(super) fn move_doc_examples(object: &mut Map<String, Value>) {
    let Some(Value::String(description)) = object.get("description") else {
        return;
    };
    let text = DocComment::parse(description);
    if text.examples.is_empty() {
        return;
    }
    let sentences = text.text_without_examples().to_owned();
    object.insert("description".to_owned(), sentences.into());
    object.insert("examples".to_owned(), text.examples.into());
}
