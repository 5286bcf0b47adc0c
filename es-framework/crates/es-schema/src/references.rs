//! Checks the size and the references of a schema before it is compiled. It refuses references that
//! leave the schema or never end.

use serde_json::{Map, Value};

/// The highest number of schemas for one value after all references are resolved. In a chain in
/// which each schema refers twice to the next one, each step doubles the number.
const MOST: usize = 10_000;
/// The longest chain of schemas for one value. The check of the value takes as many nested calls.
const DEEPEST: usize = 128;
/// The largest number of patterns. Each takes up to half a megabyte.
const PATTERNS: usize = 200;

/// Keywords whose schemas apply to the same value.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// Keywords whose schemas, by the name of a property, apply to the same value.
const IN_PLACE_BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Checks that all references stay in the schema and that they form no cycle. Returns the number of
/// patterns.
pub(super) fn check_references(schema: &Value) -> Result<usize, String> {
    let mut walk = ReferenceWalk {
        root: schema,
        path: Vec::new(),
        depth: 0,
        left: MOST,
    };
    let mut patterns = 0_usize;
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(members) => {
                if !std::ptr::eq(value, schema) {
                    check_base(value)?;
                }
                for name in ["$dynamicRef", "$recursiveRef"] {
                    if members.get(name).is_some_and(Value::is_string) {
                        return Err(format!("{name} is not supported"));
                    }
                }
                patterns = patterns.saturating_add(count_patterns(members));
                if patterns > PATTERNS {
                    return Err(format!("it has more than {PATTERNS} patterns"));
                }
                walk.follow(value)?;
                rest.extend(members.values());
            }
            Value::Array(items) => rest.extend(items),
            _ => {}
        }
    }
    Ok(patterns)
}

fn count_patterns(members: &Map<String, Value>) -> usize {
    let own = members.get("pattern").is_some_and(Value::is_string);
    let of_names = members.get("patternProperties").and_then(Value::as_object);
    of_names
        .map_or(0, Map::len)
        .saturating_add(usize::from(own))
}

/// Refuses a subschema with its own `$id`, because `$id` changes the meaning of the references in it.
fn check_base(part: &Value) -> Result<(), String> {
    match part.get("$id") {
        Some(Value::String(id)) => Err(format!("$id {id:?}: only the whole schema may have one")),
        _ => Ok(()),
    }
}

/// A walk from a schema to the schemas that apply to the same value. If it returns to a schema, the
/// check of a value would never end.
struct ReferenceWalk<'a> {
    root: &'a Value,
    path: Vec<&'a str>,
    depth: usize,
    left: usize,
}

impl<'a> ReferenceWalk<'a> {
    fn follow(&mut self, schema: &'a Value) -> Result<(), String> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or("its references are too many to follow")?;
        if self.depth >= DEEPEST {
            return Err(format!(
                "it applies more than {DEEPEST} nested schemas to a value"
            ));
        }
        self.depth = self.depth.saturating_add(1);
        if let Some(Value::String(target)) = schema.get("$ref") {
            self.follow_reference(target)?;
        }
        for applied in IN_PLACE.iter().filter_map(|name| schema.get(name)) {
            match applied {
                Value::Array(schemas) => schemas.iter().try_for_each(|next| self.follow(next))?,
                applied => self.follow(applied)?,
            }
        }
        let by_name = IN_PLACE_BY_NAME.iter();
        for applied in by_name.filter_map(|name| schema.get(name)?.as_object()) {
            applied.values().try_for_each(|next| self.follow(next))?;
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn follow_reference(&mut self, target: &'a str) -> Result<(), String> {
        let Some(pointer) = target.strip_prefix('#') else {
            return Err(format!(
                "$ref {target:?} leads out of the schema, and nothing is ever fetched"
            ));
        };
        if pointer.contains('%') {
            return Err(format!("$ref {target:?} has an escape by a percent sign"));
        }
        if self.path.contains(&target) {
            return Err(format!("$ref {target:?} leads around in a circle"));
        }
        let found = self.root.pointer(pointer);
        let found = found.ok_or_else(|| format!("$ref {target:?} leads nowhere"))?;
        self.path.push(target);
        self.follow(found)?;
        self.path.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recursion_into_parts_of_the_data_is_no_circle() {
        let schema = json!({
            "type": "object",
            "properties": {"children": {"items": {"$ref": "#"}}},
            "not": {"items": {"$ref": "#"}},
        });
        assert_eq!(check_references(&schema), Ok(0));
    }

    #[test]
    fn chains_and_patterns_are_limited() {
        let chain = |length: usize| {
            let name = |step| format!("s{step}");
            let next = |step| json!({ "$ref": format!("#/$defs/s{}", step + 1) });
            let definitions = (0..length).map(|step| (name(step), next(step)));
            let mut definitions: serde_json::Map<_, _> = definitions.collect();
            definitions.insert(name(length), json!({}));
            json!({ "$defs": definitions, "$ref": "#/$defs/s0" })
        };
        assert_eq!(check_references(&chain(60)), Ok(0));
        assert!(
            check_references(&chain(200))
                .unwrap_err()
                .contains("nested schemas")
        );
        let patterns = |count: usize| {
            let named = (0..count).map(|number| (number.to_string(), json!({"pattern": "a"})));
            let properties: serde_json::Map<_, _> = named.collect();
            json!({ "properties": properties, "patternProperties": {"a": {}} })
        };
        assert_eq!(check_references(&patterns(199)), Ok(200));
        assert!(
            check_references(&patterns(200))
                .unwrap_err()
                .contains("200 patterns")
        );
    }

    #[test]
    fn references_that_double_with_each_step_are_refused() {
        let mut definitions = serde_json::Map::new();
        for step in 0..40 {
            let next = json!({"$ref": format!("#/$defs/s{}", step + 1)});
            definitions.insert(format!("s{step}"), json!({"allOf": [next, next]}));
        }
        definitions.insert("s40".into(), json!({}));
        let schema = json!({"$defs": definitions, "$ref": "#/$defs/s0"});
        assert!(check_references(&schema).unwrap_err().contains("too many"));
    }
}
