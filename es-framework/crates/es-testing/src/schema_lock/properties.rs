//! Property tests: samples are valid for their schema, and a lock that was edited by hand does not
//! break the comparison.

use es_event::{Declaration, Event, EventDescriptor, Upcasters, declaration};
use proptest::{
    collection::{btree_map, vec},
    prelude::*,
    sample::select,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{SchemaLock, canonical::canonicalize, sample_generator::samples};

#[derive(Serialize, Deserialize, JsonSchema)]
struct TreePlantedEvent {
    kind: String,
}

impl Event for TreePlantedEvent {
    const TYPE: &'static str = "com.example.garden.TreePlantedEvent";
    const DECLARATION: Declaration = declaration!();
}

/// Generates schemas as Rust types have them.
fn schema() -> impl Strategy<Value = Value> {
    let scalar_samples = prop_oneof![
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": ["string", "null"], "format": "uuid" })),
        (any::<i16>(), 0..1_000_i64).prop_map(|(least, more)| {
            json!({ "type": "integer", "minimum": least, "maximum": i64::from(least) + more })
        }),
        Just(json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 })),
        Just(json!({ "type": "number", "exclusiveMinimum": 0.25 })),
        (0..4_u64, 0..4_u64).prop_map(|(least, more)| {
            json!({ "type": "string", "minLength": least, "maxLength": least + more })
        }),
        Just(json!({ "oneOf": [{ "const": "a", "description": "d" }, { "enum": ["c", "b"] }] })),
        Just(json!(true)),
    ];
    scalar_samples.prop_recursive(3, 24, 4, |inner| {
        let members = btree_map("[a-d]", (inner.clone(), any::<bool>()), 0..4);
        prop_oneof![
            members.prop_map(|members| {
                let required = members.iter().filter(|(_, (_, is_required))| *is_required);
                let required: Vec<_> = required.map(|(name, _)| name.clone()).collect();
                let schemas: serde_json::Map<_, _> = members
                    .into_iter()
                    .map(|(name, (schema, _))| (name, schema))
                    .collect();
                json!({ "type": "object", "properties": schemas, "required": required })
            }),
            (inner.clone(), 0..3_u64).prop_map(|(items, least)| {
                json!({ "type": "array", "items": items, "minItems": least })
            }),
            inner.clone().prop_map(|items| {
                json!({ "type": "array", "items": items, "uniqueItems": true })
            }),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                json!({ "type": "array", "prefixItems": [one, other], "minItems": 2, "maxItems": 2 })
            }),
            inner
                .clone()
                .prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
            (inner.clone(), inner)
                .prop_map(|(one, other)| json!({ "anyOf": [one, other, { "type": "null" }] })),
        ]
    })
}

/// Generates locks as a person could have edited them: keywords with arbitrary values.
fn malformed() -> impl Strategy<Value = Value> {
    let scalar_samples = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec![
            "string",
            "object",
            "array",
            "integer",
            "#/$defs/a",
            "a",
            "date-time"
        ])
        .prop_map(Value::from),
    ];
    let keywords = select(vec![
        "type",
        "properties",
        "required",
        "items",
        "prefixItems",
        "enum",
        "oneOf",
        "anyOf",
        "allOf",
        "$ref",
        "$defs",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "multipleOf",
        "additionalProperties",
        "examples",
        "format",
        "kind",
        "a",
    ]);
    scalar_samples.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(keywords.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_lock_that_was_edited_by_hand_is_compared_to_the_end(locked in malformed()) {
        let lock = json!({ "note": "", "form": 1, "events": { TreePlantedEvent::TYPE: locked } });
        let lock: SchemaLock = serde_json::from_value(lock).unwrap();
        let events = [EventDescriptor::of::<TreePlantedEvent>()];
        let difference = lock.compare(&events, &Upcasters::default());
        prop_assert!(!difference.is_empty());
        for breaking_change in difference.breaking_changes {
            prop_assert!(breaking_change.to_string().contains(TreePlantedEvent::TYPE));
        }
    }

    #[test]
    fn samples_are_values_of_their_schema(schema in schema()) {
        let written = canonicalize(&schema);
        prop_assert_eq!(&canonicalize(&written), &written);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let samples = samples(&written).unwrap();
        prop_assert!(validator.is_valid(&samples.base), "{} of {schema}", samples.base);
        for variation in samples.others {
            for value in [variation.value, variation.from] {
                prop_assert!(validator.is_valid(&value), "{value} of {schema}");
            }
        }
    }
}
