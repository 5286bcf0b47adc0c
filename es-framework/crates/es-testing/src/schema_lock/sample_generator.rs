//! Generates sample values of a schema: one complete value, and variations of it at each path.

use std::{cell::Cell, collections::BTreeSet, rc::Rc};

use serde_json::{Map, Value, json};

use super::{
    canonical::{DEFINITIONS, referenced_name},
    samples::SchemaSamples,
    scalar_samples,
};

/// The maximum depth of a recursive type in a sample.
const MAX_RECURSION: usize = 1;
/// The maximum number of visited subschemas. Mutually recursive types would never end.
const MAX_VISITED_SCHEMAS: usize = 50_000;
/// The name of a member where the schema allows any name.
const ANY_NAME: &str = "a";
/// The name of a member where the names are whole numbers.
const A_NUMBER: &str = "1";

/// Generates samples of a canonical schema. Returns `None` if no valid value is known.
pub(super) fn samples(schema: &Value) -> Option<SchemaSamples> {
    let generator = SampleGenerator {
        root: schema,
        open: BTreeSet::new(),
        left: Rc::new(Cell::new(MAX_VISITED_SCHEMAS)),
    };
    generator.samples(schema)
}

/// Generates sample values of a schema.
#[derive(Clone)]
struct SampleGenerator<'a> {
    root: &'a Value,
    /// The definitions on the current path.
    open: BTreeSet<(usize, &'a str)>,
    /// The number of subschemas that may still be visited.
    left: Rc<Cell<usize>>,
}

impl<'a> SampleGenerator<'a> {
    /// Returns samples of a subschema, if there are any.
    fn samples(&self, schema: &'a Value) -> Option<SchemaSamples> {
        self.left.set(self.left.get().checked_sub(1)?);
        let examples = schema.get("examples").and_then(Value::as_array);
        if let Some(examples) = examples.filter(|examples| !examples.is_empty()) {
            return SchemaSamples::from_values(examples.iter().cloned());
        }
        if let Some(name) = referenced_name(schema) {
            return self.definition(name);
        }
        match schema {
            Value::Bool(true) => self.anything(),
            Value::Object(object) => self.object_schema(schema, object),
            _ => None,
        }
    }

    fn definition(&self, name: &'a str) -> Option<SchemaSamples> {
        let depth = self.open.iter().filter(|(_, open)| *open == name).count();
        if depth > MAX_RECURSION {
            return None;
        }
        let mut inside = self.clone();
        inside.open.insert((depth, name));
        inside.samples(self.root.get(DEFINITIONS)?.get(name)?)
    }

    /// Returns samples of different JSON types.
    fn anything(&self) -> Option<SchemaSamples> {
        SchemaSamples::from_values([
            json!("a"),
            json!("b"),
            json!(1),
            json!([]),
            json!({}),
            Value::Null,
        ])
    }

    fn object_schema(
        &self,
        schema: &'a Value,
        object: &'a Map<String, Value>,
    ) -> Option<SchemaSamples> {
        let list = |key| object.get(key).and_then(Value::as_array);
        if let Some(values) = list("enum") {
            return SchemaSamples::from_values(values.iter().cloned());
        }
        if let Some(branches) = list("oneOf").or_else(|| list("anyOf")) {
            let outside = self.outside(object);
            return branches
                .iter()
                .filter_map(|branch| self.with_outside(outside.as_ref(), branch))
                .reduce(SchemaSamples::or);
        }
        if let Some(parts) = list("allOf") {
            let outside = self.outside(object);
            return parts.iter().try_fold(outside, |whole, part| {
                self.with_outside(whole.as_ref(), part).map(Some)
            })?;
        }
        match object.get("type") {
            Some(Value::Array(kinds)) => kinds
                .iter()
                .rev() // null is the last
                .filter_map(|kind| self.of_type(kind.as_str()?, schema))
                .reduce(SchemaSamples::or),
            Some(Value::String(kind)) => self.of_type(kind, schema),
            _ if object.contains_key("properties") => self.of_type("object", schema),
            _ => self.anything(),
        }
    }

    /// Returns the members beside a `oneOf`, which all branches share.
    fn outside(&self, object: &'a Map<String, Value>) -> Option<SchemaSamples> {
        let properties = object.get("properties")?.as_object()?;
        Some(self.members(properties, object))
    }

    fn with_outside(
        &self,
        outside: Option<&SchemaSamples>,
        branch: &'a Value,
    ) -> Option<SchemaSamples> {
        let inside = self.samples(branch)?;
        let Some(outside) = outside else {
            return Some(inside);
        };
        let mut both = SchemaSamples::without_variations(merged(&outside.base, &inside.base));
        let outer = outside.others.iter();
        outer.for_each(|one| {
            both.push_variation(one.map_both_values(|value| merged(value, &inside.base)))
        });
        let inner = inside.others.iter();
        inner.for_each(|one| {
            both.push_variation(one.map_both_values(|value| merged(&outside.base, value)))
        });
        Some(both)
    }

    fn of_type(&self, kind: &str, schema: &'a Value) -> Option<SchemaSamples> {
        match kind {
            "object" => self.object(schema),
            "array" => self.array(schema),
            kind => scalar_samples::samples(kind, schema),
        }
    }

    fn object(&self, schema: &'a Value) -> Option<SchemaSamples> {
        let object = schema.as_object()?;
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            return Some(self.members(properties, object));
        }
        let Some((name, values)) = self.member_of_map(object) else {
            return Some(SchemaSamples::without_variations(json!({})));
        };
        let Some(part) = self.samples(values) else {
            return Some(SchemaSamples::without_variations(json!({})));
        };
        let whole = |value| json!({ name.clone(): value });
        let mut samples = SchemaSamples::without_variations(whole(part.base.clone()));
        samples.push(vec![], json!({}));
        samples.embed_variations(&name, &part, whole);
        Some(samples)
    }

    /// Returns a name that the schema allows, and the schema of its value.
    fn member_of_map(&self, object: &'a Map<String, Value>) -> Option<(String, &'a Value)> {
        let mut patterns = object
            .get("patternProperties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let whole_numbers = |(pattern, _): &(&String, _)| pattern.ends_with(r"\d+$");
        if let Some((_, values)) = patterns.find(whole_numbers) {
            return Some((A_NUMBER.to_owned(), values));
        }
        let names = object.get("propertyNames");
        let name = names.and_then(|names| self.samples(names)?.base.as_str().map(str::to_owned));
        let values = object.get("additionalProperties")?;
        Some((name.unwrap_or_else(|| ANY_NAME.to_owned()), values))
    }

    fn members(
        &self,
        properties: &'a Map<String, Value>,
        object: &Map<String, Value>,
    ) -> SchemaSamples {
        let required = object.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        let parts: Vec<_> = properties
            .iter()
            .filter_map(|(name, schema)| Some((name, self.samples(schema)?)))
            .collect();
        let base: Map<_, _> = parts
            .iter()
            .map(|(name, part)| ((*name).clone(), part.base.clone()))
            .collect();
        let mut samples = SchemaSamples::without_variations(Value::Object(base.clone()));
        for (name, part) in &parts {
            samples.embed_variations(name, part, |value| {
                let mut whole = base.clone();
                whole.insert((*name).clone(), value);
                Value::Object(whole)
            });
            if !is_required(name) {
                let mut without = base.clone();
                without.remove(*name);
                samples.push(vec![(*name).clone()], Value::Object(without));
            }
        }
        samples
    }

    fn array(&self, schema: &'a Value) -> Option<SchemaSamples> {
        if let Some(parts) = schema.get("prefixItems").and_then(Value::as_array) {
            return self.tuple(parts);
        }
        let length = |key| schema.get(key).and_then(Value::as_u64).unwrap_or_default();
        let least = usize::try_from(length("minItems").clamp(1, 16)).unwrap_or(1);
        let part = schema.get("items").and_then(|items| self.samples(items));
        let Some(part) = part else {
            return Some(SchemaSamples::without_variations(json!([])));
        };
        let whole = |value| {
            let rest = std::iter::repeat_n(part.base.clone(), least.saturating_sub(1));
            Value::Array(std::iter::once(value).chain(rest).collect())
        };
        let mut samples = SchemaSamples::without_variations(whole(part.base.clone()));
        if length("minItems") == 0 {
            samples.push(vec![], json!([]));
        }
        let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
        if !is_set && schema.get("maxItems").is_none() {
            let twice = std::iter::repeat_n(part.base.clone(), least.saturating_add(1));
            samples.push(vec![], twice.collect());
        }
        samples.embed_variations("0", &part, whole);
        Some(samples)
    }

    fn tuple(&self, parts: &'a [Value]) -> Option<SchemaSamples> {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| self.samples(part))
            .collect::<Option<_>>()?;
        let base: Vec<_> = parts.iter().map(|part| part.base.clone()).collect();
        let mut samples = SchemaSamples::without_variations(Value::Array(base.clone()));
        for (index, part) in parts.iter().enumerate() {
            samples.embed_variations(&index.to_string(), part, |value| {
                let path = base.iter().enumerate();
                let pick = |(at, other): (usize, &Value)| {
                    if at == index {
                        value.clone()
                    } else {
                        other.clone()
                    }
                };
                path.map(pick).collect()
            });
        }
        Some(samples)
    }
}

/// Merges the members of two objects.
fn merged(outside: &Value, inside: &Value) -> Value {
    match (outside, inside) {
        (Value::Object(outside), Value::Object(inside)) => {
            let members = outside.iter().chain(inside);
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
            )
        }
        (_, inside) => inside.clone(),
    }
}
