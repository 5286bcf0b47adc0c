//! Schemas and data that describe too much work.

use serde_json::{Map, Value, json, value::to_raw_value};

use super::{CheckFailure, JsonSchema};

/// The steps of a check.
const STEPS: u64 = 5_000_000;

/// An object in an object, and so on.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}

/// Checks data. Returns the outcome and the number of steps.
fn check(schema: &Value, data: &Value) -> (Result<(), CheckFailure>, u64) {
    let schema = JsonSchema::parse(&schema.to_string()).unwrap();
    let mut left = STEPS;
    let checked = schema.check(&to_raw_value(data).unwrap(), &mut left);
    (checked, STEPS - left)
}

/// A schema of 100 definitions, each of which applies the next one twice to a member.
fn doubling(applicator: &str) -> Value {
    let mut definitions = Map::new();
    for step in 0..100 {
        let next = json!({ "$ref": format!("#/$defs/s{}", step + 1) });
        let twice = json!({ applicator: [next, next] });
        definitions.insert(format!("s{step}"), json!({ "properties": { "a": twice } }));
    }
    definitions.insert("s100".into(), json!({ "type": "string" }));
    let properties = json!({ "a": { "$ref": "#/$defs/s0" } });
    json!({ "type": "object", "properties": properties, "$defs": definitions })
}

#[test]
fn a_schema_that_refers_to_itself_twice_is_checked_in_little_work() {
    for twice in [
        json!({"allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]}),
        json!({"anyOf": [{"not": {"$ref": "#/$defs/x"}}, {"$ref": "#/$defs/x"}]}),
        json!({"oneOf": [{"$ref": "#/$defs/x"}, {"not": {"$ref": "#/$defs/x"}}]}),
    ] {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/x"}},
            "$defs": {"x": {"properties": {"a": twice}}},
        });
        let (checked, steps) = check(&schema, &nested(100));
        assert_eq!(checked, Ok(()), "{schema}");
        assert!(steps < 10_000, "{steps} steps for {schema}");
    }
}

#[test]
fn a_check_ends_when_its_budget_is_used_up() {
    for (applicator, levels) in [("allOf", 100), ("anyOf", 110), ("oneOf", 110)] {
        let (checked, _) = check(&doubling(applicator), &nested(levels));
        assert_eq!(checked, Err(CheckFailure::BudgetExceeded), "{applicator}");
    }
}

#[test]
fn unevaluated_properties_of_a_large_object_are_counted() {
    let part = json!({"unevaluatedProperties": {"type": "number"}, "anyOf": [{}, {}]});
    let schema = json!({"type": "object", "properties": {}, "allOf": vec![part; 300]});
    let members: Map<_, _> = (0..20_000)
        .map(|number| (number.to_string(), json!(1)))
        .collect();
    let (checked, _) = check(&schema, &members.into());
    assert_eq!(checked, Err(CheckFailure::BudgetExceeded));
}

#[test]
fn a_long_chain_of_references_is_compiled() {
    let mut definitions = Map::new();
    for step in 0..2_000 {
        let next = json!({ "$ref": format!("#/$defs/{:x}", step + 1) });
        definitions.insert(format!("{step:x}"), json!({ "properties": { "a": next } }));
    }
    definitions.insert(format!("{:x}", 2_000), json!({}));
    let properties = json!({ "a": { "$ref": "#/$defs/0" } });
    let chain = json!({ "type": "object", "properties": properties, "$defs": definitions });
    assert_eq!(check(&chain, &nested(100)).0, Ok(()));
}

#[test]
fn the_message_about_large_data_needs_little_memory() {
    let alternatives = vec![json!({"properties": {"a": {"items": {"type": "null"}}}}); 100];
    let schema = json!({"type": "object", "properties": {}, "anyOf": alternatives});
    let large = json!({ "a": vec!["x".repeat(1_000); 1_000], "b".repeat(100_000): 1 });
    let failure = check(&schema, &large).0.unwrap_err();
    let general = CheckFailure::Mismatch("the data does not follow it".into());
    assert_eq!(failure, general);
    let names: Map<_, _> = (0..1_000)
        .map(|number| (number.to_string(), json!(1)))
        .collect();
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let failure = check(&schema, &names.into()).0.unwrap_err();
    let first = CheckFailure::Mismatch("additionalProperties '0' not allowed".into());
    assert_eq!(failure, first);
    let long = json!({ "x".repeat(5_000): 1 });
    let CheckFailure::Mismatch(message) = check(&schema, &long).0.unwrap_err() else {
        panic!("the check is cheap");
    };
    assert_eq!(message.chars().count(), 1_001);
}

#[test]
fn a_large_pattern_makes_text_expensive() {
    let schema =
        |pattern: &str| json!({"type": "object", "properties": {"a": {"pattern": pattern}}});
    let text = json!({ "a": "ab".repeat(100_000) });
    assert_eq!(check(&schema("^[ab]*$"), &text).0, Ok(()));
    let (checked, _) = check(&schema("^(a|b)*a(a|b){1000}$"), &text);
    assert_eq!(checked, Err(CheckFailure::BudgetExceeded));
    let huge = schema("(a|b){100000}").to_string();
    assert!(JsonSchema::parse(&huge).is_err());
}

#[test]
fn a_large_schema_is_refused() {
    let schema = json!({"type": "object", "properties": {}, "title": "x".repeat(256 << 10)});
    let refused = JsonSchema::parse(&schema.to_string()).err();
    assert_eq!(refused.unwrap(), "it is larger than 256 KiB");
    let deep = format!("{}{}", r#"{"not":"#.repeat(200), "}".repeat(200));
    assert!(JsonSchema::parse(&deep).is_err());
}
