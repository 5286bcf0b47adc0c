//! Finds changes of an event's schema that are not plainly compatible: what was stored may be refused or lost.

use serde_json::{Map, Value};

use super::{
    breaking_change::{DataLoss, member},
    canonical::DEFINITIONS,
};

/// Bounds by keyword, and true if it is an upper one.
const BOUNDS: [(&str, bool); 8] = [
    ("maximum", true),
    ("exclusiveMaximum", true),
    ("maxLength", true),
    ("maxItems", true),
    ("minimum", false),
    ("exclusiveMinimum", false),
    ("minLength", false),
    ("minItems", false),
];
/// Keywords that `Comparison` looks into.
const COMPARED: [&str; 12] = [
    "type",
    "enum",
    "format",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "patternProperties",
    "prefixItems",
    "anyOf",
    "oneOf",
    DEFINITIONS,
];
/// Keywords that allow or describe values, and refuse none.
const IGNORED: [&str; 2] = ["examples", "contentEncoding"];

/// Returns the changes of a schema that can make stored events unreadable or lose their data. Both schemas are
/// canonical.
pub(super) fn find_losses(locked: &Value, today: &Value) -> Vec<DataLoss> {
    let mut comparison = Comparison::default();
    comparison.compare(locked, today);
    let definitions = |schema: &Value| schema.get(DEFINITIONS).and_then(Value::as_object).cloned();
    let (locked, today) = (definitions(locked), definitions(today));
    for (name, locked) in locked.unwrap_or_default() {
        if let Some(today) = today.as_ref().and_then(|today| today.get(&name)) {
            comparison.inside(&name, &locked, today);
        }
    }
    comparison.losses
}

#[derive(Default)]
struct Comparison {
    /// The way from the event to the compared value.
    path: Vec<String>,
    losses: Vec<DataLoss>,
}

impl Comparison {
    fn compare(&mut self, locked: &Value, today: &Value) {
        let takes_anything =
            today == &Value::Bool(true) || today.as_object().is_some_and(Map::is_empty);
        if locked == today || takes_anything {
            return;
        }
        let (stored, read) = (alternatives(locked), alternatives(today));
        match (stored.as_slice(), read.as_slice()) {
            ([stored], [read]) => self.compare_one(stored, read),
            _ => {
                for stored in stored {
                    self.compare_with_nearest(stored, &read);
                }
            }
        }
    }

    /// Compares an alternative with the one of today that takes most of it.
    fn compare_with_nearest(&mut self, stored: &Value, read: &[&Value]) {
        let losses = read.iter().map(|read| {
            let mut comparison = Self {
                path: self.path.clone(),
                losses: vec![],
            };
            comparison.compare_one(stored, read);
            comparison.losses
        });
        let own = member(&self.path);
        let is_of_other_type = |loss: &DataLoss| matches!(loss, DataLoss::Changed { member, keyword, .. } if *member == own && keyword == "type");
        let nearest =
            losses.min_by_key(|losses| (losses.iter().any(is_of_other_type), losses.len()));
        self.losses.extend(nearest.unwrap_or_default());
    }

    /// Compares schemas without alternatives.
    fn compare_one(&mut self, locked: &Value, today: &Value) {
        if locked == today {
            return;
        }
        let (Some(stored), Some(read)) = (locked.as_object(), today.as_object()) else {
            return self.changed("schema", Some(locked), today);
        };
        let before = self.losses.len();
        self.compare_types(stored, read);
        if self.losses.len() == before {
            self.compare_values(stored, read);
            self.compare_members(stored, read);
            self.compare_elements(stored, read);
        }
    }

    fn compare_types(&mut self, locked: &Map<String, Value>, today: &Map<String, Value>) {
        let Some(today_type) = today.get("type") else {
            return;
        };
        let read = list(today_type);
        let locked_type = locked.get("type");
        let is_read = |kind: &Value| {
            read.contains(kind) || kind == "integer" && read.iter().any(|read| read == "number")
        };
        if locked_type.is_none_or(|kinds| !list(kinds).iter().all(is_read)) {
            self.changed("type", locked_type, today_type);
        }
    }

    /// Compares the values that schemas of one type allow.
    fn compare_values(&mut self, locked: &Map<String, Value>, today: &Map<String, Value>) {
        for (keyword, read) in today {
            let stored = locked.get(keyword);
            let bound = BOUNDS.iter().find(|(bound, _)| bound == keyword);
            let is_compatible = match (keyword.as_str(), bound) {
                (_, Some((_, is_upper))) => !is_tighter(stored, read, *is_upper),
                ("enum", _) => stored.is_some_and(|stored| {
                    list(stored).iter().all(|value| list(read).contains(value))
                }),
                ("format", _) => stored.is_some_and(|stored| is_wider_format(stored, read)),
                (other, _) if COMPARED.contains(&other) || IGNORED.contains(&other) => true,
                _ => stored == Some(read),
            };
            if !is_compatible {
                return self.changed(keyword, stored, read);
            }
        }
    }

    fn compare_members(&mut self, locked: &Map<String, Value>, today: &Map<String, Value>) {
        let members = |schema: &Map<String, Value>| {
            let members = schema.get("properties").and_then(Value::as_object);
            members.cloned().unwrap_or_default()
        };
        let (stored, read) = (members(locked), members(today));
        for name in required(today) {
            if !required(locked).contains(&name) {
                let member = self.name_of(&name);
                self.losses.push(DataLoss::Required { member });
            }
        }
        // A schema such as that of a flattened map takes each member.
        let additional = today.get("additionalProperties");
        let others = additional.filter(|others| *others != &Value::Bool(false));
        for (name, stored) in &stored {
            match read.get(name).or(others) {
                Some(read) => self.inside(name, stored, read),
                None => {
                    let member = self.name_of(name);
                    self.losses.push(DataLoss::Lost { member });
                }
            }
        }
    }

    /// Compares the values of maps, the elements of lists, and those of tuples.
    fn compare_elements(&mut self, locked: &Map<String, Value>, today: &Map<String, Value>) {
        for (keyword, name) in [("items", "0"), ("additionalProperties", "*")] {
            match (locked.get(keyword), today.get(keyword)) {
                (Some(Value::Bool(false)), _) | (_, None | Some(Value::Bool(_))) => {}
                (Some(stored), Some(read)) => self.inside(name, stored, read),
                // Members that a struct declares are compared by name.
                (None, Some(_)) if locked.contains_key("properties") => {}
                (None, Some(read)) => self.changed(keyword, None, read),
            }
        }
        let patterns = today.get("patternProperties").and_then(Value::as_object);
        for (pattern, read) in patterns.into_iter().flatten() {
            let stored = locked.get("patternProperties");
            match stored.and_then(|stored| stored.get(pattern)) {
                Some(stored) => self.inside("*", stored, read),
                None => self.changed("patternProperties", stored, &Value::from(pattern.as_str())),
            }
        }
        let places = |schema: &Map<String, Value>| {
            let places = schema.get("prefixItems").and_then(Value::as_array);
            places.cloned().unwrap_or_default()
        };
        let (stored, read) = (places(locked), places(today));
        if stored.len() != read.len() {
            self.changed(
                "prefixItems",
                locked.get("prefixItems"),
                &Value::Array(read),
            );
            return;
        }
        for (stored, read) in stored.iter().zip(&read) {
            self.inside("0", stored, read);
        }
    }

    fn inside(&mut self, name: &str, locked: &Value, today: &Value) {
        self.path.push(name.to_owned());
        self.compare(locked, today);
        self.path.pop();
    }

    fn name_of(&self, name: &str) -> String {
        let mut path = self.path.clone();
        path.push(name.to_owned());
        member(&path)
    }

    fn changed(&mut self, keyword: &str, locked: Option<&Value>, today: &Value) {
        self.losses.push(DataLoss::Changed {
            member: member(&self.path),
            keyword: keyword.to_owned(),
            locked: locked.cloned(),
            today: today.clone(),
        });
    }
}

/// Returns the schemas of which a value has one.
fn alternatives(schema: &Value) -> Vec<&Value> {
    let lists = ["anyOf", "oneOf"].into_iter();
    let list = lists
        .filter_map(|keyword| schema.get(keyword)?.as_array())
        .next();
    list.map_or_else(|| vec![schema], |list| list.iter().collect())
}

/// Returns the elements of a keyword that has one value or a list.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values,
        one => std::slice::from_ref(one),
    }
}

fn required(schema: &Map<String, Value>) -> Vec<String> {
    let names = schema.get("required").map(list).unwrap_or_default();
    names
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn is_tighter(locked: Option<&Value>, today: &Value, is_upper: bool) -> bool {
    match (locked.and_then(Value::as_f64), today.as_f64()) {
        (Some(locked), Some(today)) if is_upper => today < locked,
        (Some(locked), Some(today)) => today > locked,
        _ => true,
    }
}

/// Returns whether numbers of one format can be read as those of another.
fn is_wider_format(locked: &Value, today: &Value) -> bool {
    let bits = |format: &Value| {
        let format = format.as_str()?;
        Some(match format {
            "float" => ('f', 24),
            "double" => ('f', 53),
            _ => match format.strip_prefix("uint") {
                Some(bits) => ('u', bits.parse().unwrap_or(u32::MAX)),
                None => ('i', format.strip_prefix("int")?.parse().ok()?),
            },
        })
    };
    match (bits(locked), bits(today)) {
        (Some((one, stored)), Some((other, read))) if one == other => stored <= read,
        // A number with a sign needs one more bit, and a float holds each integer of its precision.
        (Some(('u', stored)), Some(('i', read))) => stored < read,
        (Some(('i' | 'u', stored)), Some(('f', read))) => stored <= read,
        _ => locked == today,
    }
}
