//! The parts of a JSON schema that a comparison reads, with references and `allOf` merged.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::DocumentReader;

/// The lower and upper bounds.
pub(super) const LOWER: [&str; 4] = ["minimum", "exclusiveMinimum", "minLength", "minItems"];
pub(super) const UPPER: [&str; 4] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];

/// The deepest nesting of references and `allOf`.
const MAX_DEPTH: usize = 16;

/// A schema in the form that is compared. `None` and an empty collection mean that anything goes.
#[derive(Debug, Default)]
pub(super) struct SchemaShape<'a> {
    pub(super) types: Option<BTreeSet<&'a str>>,
    /// The JSON of each allowed value.
    pub(super) values: Option<BTreeSet<String>>,
    pub(super) members: BTreeMap<&'a str, &'a Value>,
    pub(super) required: BTreeSet<&'a str>,
    /// True if other members are refused.
    pub(super) is_closed: bool,
    /// The schema of other members.
    pub(super) other_members: Option<&'a Value>,
    pub(super) items: Option<&'a Value>,
    pub(super) bounds: BTreeMap<&'static str, f64>,
    pub(super) pattern: Option<&'a str>,
    pub(super) format: Option<&'a str>,
    /// The schemas of which one has to fit.
    pub(super) alternatives: Vec<&'a Value>,
}

impl<'a> SchemaShape<'a> {
    /// Reads a schema.
    pub(super) fn from_schema(reader: DocumentReader<'a>, schema: &'a Value) -> Self {
        let mut shape = Self::default();
        shape.add(reader, schema, 0);
        shape
    }

    /// Merges the forms of which one has to fit into the members that each form may have.
    pub(super) fn merge_alternatives(&mut self, reader: DocumentReader<'a>) {
        let mut required: Option<BTreeSet<&str>> = None;
        for form in std::mem::take(&mut self.alternatives) {
            let form = Self::from_schema(reader, form);
            self.types = self.types.take().or(form.types);
            for (name, member) in form.members {
                self.members.entry(name).or_insert(member);
            }
            required = Some(match required {
                None => form.required,
                Some(required) => &required & &form.required,
            });
        }
        self.required.extend(required.into_iter().flatten());
    }

    fn add(&mut self, reader: DocumentReader<'a>, schema: &'a Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let deeper = depth.saturating_add(1);
        if let Some(named) = reader.referenced(schema) {
            self.add(reader, named, deeper);
        }
        for part in list(schema, "allOf") {
            self.add(reader, part, deeper);
        }
        self.add_alternatives(reader, schema, deeper);
        self.add_types(schema);
        let values: BTreeSet<_> = list(schema, "enum")
            .chain(schema.get("const"))
            .map(Value::to_string)
            .collect();
        if !values.is_empty() {
            self.values = Some(values);
        }
        self.add_members(schema);
        self.items = schema.get("items").or(self.items);
        for bound in LOWER.into_iter().chain(UPPER) {
            if let Some(value) = schema.get(bound).and_then(Value::as_f64) {
                self.bounds.insert(bound, value);
            }
        }
        let text = |key| schema.get(key).and_then(Value::as_str);
        self.pattern = text("pattern").or(self.pattern);
        self.format = text("format").or(self.format);
    }

    fn add_types(&mut self, schema: &'a Value) {
        let types: BTreeSet<_> = match schema.get("type") {
            Some(Value::String(one)) => [one.as_str()].into(),
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        self.types = Some(types);
    }

    fn add_members(&mut self, schema: &'a Value) {
        let members = schema.get("properties").and_then(Value::as_object);
        for (name, member) in members.into_iter().flatten() {
            self.members.insert(name, member);
        }
        self.required
            .extend(list(schema, "required").filter_map(Value::as_str));
        match schema.get("additionalProperties") {
            Some(Value::Bool(is_open)) => self.is_closed = !is_open,
            Some(other) => self.other_members = Some(other),
            None => {}
        }
    }

    /// Adds `anyOf` and `oneOf`. A value that may be `null`, and a list of constants, are merged.
    fn add_alternatives(&mut self, reader: DocumentReader<'a>, schema: &'a Value, depth: usize) {
        let all: Vec<_> = list(schema, "anyOf").chain(list(schema, "oneOf")).collect();
        let is_null = |one: &&Value| one.get("type").and_then(Value::as_str) == Some("null");
        let (nulls, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_null);
        match others.as_slice() {
            [] => {}
            [only] => self.add(reader, only, depth),
            several => {
                let shapes: Vec<_> = several
                    .iter()
                    .map(|one| {
                        let mut shape = SchemaShape::default();
                        shape.add(reader, one, depth);
                        shape
                    })
                    .collect();
                let constants: Option<Vec<_>> =
                    shapes.iter().map(|shape| shape.values.clone()).collect();
                match constants {
                    Some(constants) => {
                        self.values = Some(constants.into_iter().flatten().collect());
                        let types: Option<Vec<_>> =
                            shapes.into_iter().map(|shape| shape.types).collect();
                        self.types = types.map(|types| types.into_iter().flatten().collect());
                    }
                    None => self.alternatives = several.to_vec(),
                }
            }
        }
        if !nulls.is_empty() {
            if let Some(types) = &mut self.types {
                types.insert("null");
            }
            if let Some(values) = &mut self.values {
                values.insert("null".to_owned());
            }
        }
    }
}

fn list<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter().flatten()
}
