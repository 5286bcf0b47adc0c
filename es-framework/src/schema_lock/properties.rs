//! Samples are values of their schema, whatever it is.

use proptest::{collection::btree_map, prelude::*};
use serde_json::{Value, json};

use super::{canonical::canonical, sample::samples};

/// Schemas of the sorts that Rust types have.
fn schema() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
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
    scalar.prop_recursive(3, 24, 4, |inner| {
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

proptest! {
    #[test]
    fn samples_are_values_of_their_schema(schema in schema()) {
        let written = canonical(&schema);
        prop_assert_eq!(&canonical(&written), &written);
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
