//! Values that a schema takes: one whole, and for each place in it the others that could stand
//! there.

use std::{cell::Cell, collections::BTreeSet, rc::Rc};

use serde_json::{Map, Value, json};

use super::{
    canonical::{DEFINITIONS, referenced},
    scalar,
};

/// How many values are tried for one event.
const MOST: usize = 4_096;
/// How often a type may hold itself in a sample.
const DEPTH: usize = 1;
/// How many parts of a schema are looked at: types that hold each other have no end.
const MOST_PARTS: usize = 50_000;
/// The name of a member where any name may stand.
const ANY_NAME: &str = "a";

/// Values that a schema takes.
#[derive(Debug, Clone)]
pub(super) struct Samples {
    /// Every member is there.
    pub(super) base: Value,
    /// The base with something else in one place.
    pub(super) others: Vec<Variation>,
}

/// A value that differs from another in one place.
#[derive(Debug, Clone)]
pub(super) struct Variation {
    /// The place, from the outside in.
    pub(super) place: Vec<String>,
    /// The whole value.
    pub(super) value: Value,
    /// What it differs from: the base, unless a choice led elsewhere.
    pub(super) from: Value,
}

/// Values that the canonical schema takes; nothing if it takes none that could be found.
pub(super) fn samples(schema: &Value) -> Option<Samples> {
    let generator = Generator {
        root: schema,
        open: BTreeSet::new(),
        left: Rc::new(Cell::new(MOST_PARTS)),
    };
    generator.samples(schema)
}

impl Variation {
    fn map(&self, whole: impl Fn(&Value) -> Value) -> Self {
        Self {
            place: self.place.clone(),
            value: whole(&self.value),
            from: whole(&self.from),
        }
    }
}

impl Samples {
    pub(super) fn one(base: Value) -> Self {
        let others = vec![];
        Self { base, others }
    }

    pub(super) fn of(values: impl IntoIterator<Item = Value>) -> Option<Self> {
        let mut values = values.into_iter();
        let mut samples = Self::one(values.next()?);
        values.for_each(|value| samples.push(vec![], value));
        Some(samples)
    }

    fn push(&mut self, place: Vec<String>, value: Value) {
        let from = self.base.clone();
        self.push_variation(Variation { place, value, from });
    }

    fn push_variation(&mut self, variation: Variation) {
        if self.others.len() < MOST && variation.value != variation.from {
            self.others.push(variation);
        }
    }

    /// Takes the variations of a part at this place, each made whole again.
    fn within(&mut self, name: &str, part: &Self, whole: impl Fn(Value) -> Value) {
        for variation in &part.others {
            let place = std::iter::once(name.to_owned()).chain(variation.place.iter().cloned());
            self.push_variation(Variation {
                place: place.collect(),
                value: whole(variation.value.clone()),
                from: whole(variation.from.clone()),
            });
        }
    }

    /// These, or those.
    fn or(mut self, other: Self) -> Self {
        self.push(vec![], other.base);
        let others = other.others.into_iter();
        others.for_each(|variation| self.push_variation(variation));
        self
    }
}

#[derive(Clone)]
struct Generator<'a> {
    root: &'a Value,
    /// The definitions that are being written out.
    open: BTreeSet<(usize, &'a str)>,
    /// How many parts may still be looked at.
    left: Rc<Cell<usize>>,
}

impl<'a> Generator<'a> {
    fn samples(&self, schema: &'a Value) -> Option<Samples> {
        self.left.set(self.left.get().checked_sub(1)?);
        let examples = schema.get("examples").and_then(Value::as_array);
        if let Some(examples) = examples.filter(|examples| !examples.is_empty()) {
            return Samples::of(examples.iter().cloned());
        }
        if let Some(name) = referenced(schema) {
            return self.definition(name);
        }
        match schema {
            Value::Bool(true) => self.anything(),
            Value::Object(object) => self.object_schema(schema, object),
            _ => None,
        }
    }

    fn definition(&self, name: &'a str) -> Option<Samples> {
        let depth = self.open.iter().filter(|(_, open)| *open == name).count();
        if depth > DEPTH {
            return None;
        }
        let mut inside = self.clone();
        inside.open.insert((depth, name));
        inside.samples(self.root.get(DEFINITIONS)?.get(name)?)
    }

    fn anything(&self) -> Option<Samples> {
        Samples::of([
            json!("a"),
            json!("b"),
            json!(1),
            json!([]),
            json!({}),
            Value::Null,
        ])
    }

    fn object_schema(&self, schema: &'a Value, object: &'a Map<String, Value>) -> Option<Samples> {
        let list = |key| object.get(key).and_then(Value::as_array);
        if let Some(values) = list("enum") {
            return Samples::of(values.iter().cloned());
        }
        if let Some(branches) = list("oneOf").or_else(|| list("anyOf")) {
            let outside = self.outside(object);
            return branches
                .iter()
                .filter_map(|branch| self.with_outside(outside.as_ref(), branch))
                .reduce(Samples::or);
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
                .reduce(Samples::or),
            Some(Value::String(kind)) => self.of_type(kind, schema),
            _ if object.contains_key("properties") => self.of_type("object", schema),
            _ => self.anything(),
        }
    }

    /// What stands beside a choice: members that each of the choices has.
    fn outside(&self, object: &'a Map<String, Value>) -> Option<Samples> {
        let properties = object.get("properties")?.as_object()?;
        Some(self.members(properties, object))
    }

    fn with_outside(&self, outside: Option<&Samples>, branch: &'a Value) -> Option<Samples> {
        let inside = self.samples(branch)?;
        let Some(outside) = outside else {
            return Some(inside);
        };
        let mut both = Samples::one(merged(&outside.base, &inside.base));
        let outer = outside.others.iter();
        outer.for_each(|one| both.push_variation(one.map(|value| merged(value, &inside.base))));
        let inner = inside.others.iter();
        inner.for_each(|one| both.push_variation(one.map(|value| merged(&outside.base, value))));
        Some(both)
    }

    fn of_type(&self, kind: &str, schema: &'a Value) -> Option<Samples> {
        match kind {
            "object" => self.object(schema),
            "array" => self.array(schema),
            kind => scalar::samples(kind, schema),
        }
    }

    fn object(&self, schema: &'a Value) -> Option<Samples> {
        let object = schema.as_object()?;
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            return Some(self.members(properties, object));
        }
        let Some(values) = object.get("additionalProperties") else {
            return Some(Samples::one(json!({})));
        };
        let Some(part) = self.samples(values) else {
            return Some(Samples::one(json!({})));
        };
        let whole = |value| json!({ ANY_NAME: value });
        let mut samples = Samples::one(whole(part.base.clone()));
        samples.push(vec![], json!({}));
        samples.within(ANY_NAME, &part, whole);
        Some(samples)
    }

    fn members(&self, properties: &'a Map<String, Value>, object: &Map<String, Value>) -> Samples {
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
        let mut samples = Samples::one(Value::Object(base.clone()));
        for (name, part) in &parts {
            samples.within(name, part, |value| {
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

    fn array(&self, schema: &'a Value) -> Option<Samples> {
        if let Some(parts) = schema.get("prefixItems").and_then(Value::as_array) {
            return self.tuple(parts);
        }
        let length = |key| schema.get(key).and_then(Value::as_u64).unwrap_or_default();
        let least = usize::try_from(length("minItems").clamp(1, 16)).unwrap_or(1);
        let part = schema.get("items").and_then(|items| self.samples(items));
        let Some(part) = part else {
            return Some(Samples::one(json!([])));
        };
        let whole = |value| {
            let rest = std::iter::repeat_n(part.base.clone(), least.saturating_sub(1));
            Value::Array(std::iter::once(value).chain(rest).collect())
        };
        let mut samples = Samples::one(whole(part.base.clone()));
        if length("minItems") == 0 {
            samples.push(vec![], json!([]));
        }
        let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
        if !is_set && schema.get("maxItems").is_none() {
            let twice = std::iter::repeat_n(part.base.clone(), least.saturating_add(1));
            samples.push(vec![], twice.collect());
        }
        samples.within("0", &part, whole);
        Some(samples)
    }

    fn tuple(&self, parts: &'a [Value]) -> Option<Samples> {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| self.samples(part))
            .collect::<Option<_>>()?;
        let base: Vec<_> = parts.iter().map(|part| part.base.clone()).collect();
        let mut samples = Samples::one(Value::Array(base.clone()));
        for (index, part) in parts.iter().enumerate() {
            samples.within(&index.to_string(), part, |value| {
                let place = base.iter().enumerate();
                let pick = |(at, other): (usize, &Value)| match at == index {
                    true => value.clone(),
                    false => other.clone(),
                };
                place.map(pick).collect()
            });
        }
        Some(samples)
    }
}

/// The members of both.
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
