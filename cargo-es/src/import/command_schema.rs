//! The route of a command and the schemas of its fields, as the OpenAPI document of the service has them.

use serde_json::{Map, Value};

use crate::error::ToolError;

/// A command that takes rows.
pub(super) struct CommandSchema {
    /// The path of its route.
    pub(super) path: String,
    /// The schemas of its fields, without references.
    fields: Map<String, Value>,
}

impl CommandSchema {
    /// Finds a command by its name, with or without the suffix `Command`.
    pub(super) fn find(document: &Value, name: &str) -> Result<Self, ToolError> {
        let paths = document["paths"].as_object();
        let operations = || {
            let paths = paths.into_iter().flatten();
            paths.filter_map(|(path, item)| Some((path, item.get("post")?)))
        };
        let is_named = |operation: &Value| {
            let id = operation["operationId"].as_str().unwrap_or_default();
            id == name || id.strip_suffix("Command") == Some(name)
        };
        let found = operations().find(|(_, operation)| is_named(operation));
        let Some((path, operation)) = found else {
            let names = operations().filter(|(path, _)| !path.starts_with("/actuator/"));
            let names = names.filter_map(|(_, operation)| operation["operationId"].as_str());
            let names: Vec<_> = names.collect();
            return Err(ToolError::new(format!(
                "the service has no command {name}. It has {}",
                names.join(", ")
            )));
        };
        if path.contains('{') {
            return Err(ToolError::new(format!(
                "{name} has the path {path}, and all rows are sent to one path: import with a command whose fields are all in its body"
            )));
        }
        let body = operation.pointer("/requestBody/content/application~1json/schema");
        let body = resolve(document, body.unwrap_or(&Value::Null));
        let fields = body["properties"].as_object().into_iter().flatten();
        let resolved = fields.map(|(name, schema)| (name.clone(), resolve_all(document, schema)));
        Ok(Self {
            path: path.clone(),
            fields: resolved.collect(),
        })
    }

    /// Returns the schema of a field.
    pub(super) fn field(&self, name: &str) -> Result<&Value, ToolError> {
        self.fields.get(name).ok_or_else(|| {
            let names: Vec<_> = self.fields.keys().map(String::as_str).collect();
            ToolError::new(format!(
                "the command has no field {name}. Its fields are {}",
                names.join(", ")
            ))
        })
    }
}

/// Resolves the reference of a schema, and chooses the schema of a value that may be absent.
fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    /// The most references and choices in a row, so that a circle ends.
    const STEPS: usize = 16;
    let mut resolved = schema;
    for _ in 0..STEPS {
        let target = resolved["$ref"]
            .as_str()
            .and_then(|text| text.strip_prefix('#'));
        let choices = ["anyOf", "oneOf", "allOf"].iter();
        let choice = || {
            let choices = choices
                .filter_map(|key| resolved[*key].as_array())
                .flatten();
            choices.into_iter().find(|choice| choice["type"] != "null")
        };
        let next = match target {
            Some(pointer) => document.pointer(pointer),
            None if resolved.get("type").is_none() => choice(),
            None => None,
        };
        match next {
            Some(next) => resolved = next,
            None => break,
        }
    }
    resolved
}

/// Resolves the schema of a field and that of its elements.
fn resolve_all(document: &Value, schema: &Value) -> Value {
    let mut resolved = resolve(document, schema).clone();
    if let Some(items) = resolved.get_mut("items") {
        *items = resolve(document, items).clone();
    }
    resolved
}
