//! The document of the garden.

use std::collections::BTreeSet;

use es_catalog::Catalog;
use serde_json::{Value, json};

use super::document;
use crate::{
    operator, routes,
    test_fixture::{PlantTreeCommand, TREES, WaterTreeCommand},
};

fn catalog() -> Catalog {
    let catalog = Catalog::builder().command::<PlantTreeCommand>();
    let catalog = catalog.command::<WaterTreeCommand>().read_models([TREES]);
    catalog.build().unwrap()
}

fn garden() -> Value {
    document("garden", &catalog())
}

/// Returns the response of an operation with this status.
fn response<'a>(document: &'a Value, operation: &'a Value, status: &str) -> &'a Value {
    let response = &operation["responses"][status];
    match response["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => response,
    }
}

/// Returns a path without the names of its parameters.
fn shape(path: &str) -> String {
    let segments = path.split('/').map(|segment| {
        if segment.starts_with('{') {
            "{}"
        } else {
            segment
        }
    });
    segments.collect::<Vec<_>>().join("/")
}

#[test]
fn every_route_is_in_the_document_and_the_other_way_round() {
    let document = garden();
    let served = super::OpenApiDocument::new(&document);
    let mounted = routes(&catalog(), served).into_iter();
    let operators = operator::routes(&[]).into_iter().map(|(path, _)| path);
    let mounted = mounted.map(|one| one.path).chain(operators);
    let mounted: BTreeSet<_> = mounted.map(|path| shape(&path)).collect();
    let paths = document["paths"].as_object().unwrap().keys();
    let described: BTreeSet<_> = paths.map(|path| shape(path)).collect();
    assert_eq!(mounted, described);
}

#[test]
fn what_stands_in_the_path_is_no_member_of_the_body() {
    let document = garden();
    let plant = &document["paths"]["/trees/{id}/plant"]["post"];
    let parameter = &plant["parameters"][0];
    assert_eq!(
        (&parameter["name"], &parameter["in"]),
        (&json!("id"), &json!("path"))
    );
    let body = &plant["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["$ref"], "#/components/schemas/PlantTreeCommandBody");
    let body = &document["components"]["schemas"]["PlantTreeCommandBody"];
    assert_eq!(body["required"], json!(["kind", "numLeaves"]));
    assert_eq!(body["properties"]["id"], Value::Null);
    let water = &document["paths"]["/trees/water"]["post"];
    let body = &water["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["$ref"], "#/components/schemas/WaterTreeCommand");
}

#[test]
fn answers_follow_from_the_condition() {
    let document = garden();
    let answers = |path: &str| document["paths"][path]["post"]["responses"].clone();
    let (plant, water) = (answers("/trees/{id}/plant"), answers("/trees/water"));
    assert!(plant["201"]["headers"]["Location"].is_object(), "{plant}");
    assert!(plant["204"].is_null() && plant["404"].is_null(), "{plant}");
    assert!(
        water["204"].is_object() && water["201"].is_null(),
        "{water}"
    );
    let watering = &document["paths"]["/trees/water"]["post"];
    let not_found = response(&document, watering, "404");
    let problem = &not_found["content"]["application/problem+json"];
    let example = &problem["examples"]["not-found"]["value"];
    assert_eq!(example["type"], "tag:es-framework,2026:problem:not-found");
    let unavailable = response(&document, watering, "503");
    assert!(
        unavailable["headers"]["Retry-After"].is_object(),
        "{unavailable}"
    );
}

#[test]
fn operators_have_a_credential_of_their_own() {
    let document = garden();
    let skip = &document["paths"]["/actuator/reactions/{name}/skip"]["post"];
    assert_eq!(skip["security"], json!([{ "operator": [] }]));
    let refused = response(&document, skip, "401");
    assert!(refused["headers"]["WWW-Authenticate"].is_object(), "{skip}");
    let problems = &refused["content"]["application/problem+json"]["examples"];
    let names: Vec<_> = problems.as_object().unwrap().keys().collect();
    assert_eq!(names, ["operators-only"]);
    let shown = &document["paths"]["/actuator/reactions"]["get"];
    assert_eq!(shown["security"], json!([{ "operator": [] }, {}]));
}

#[test]
fn a_problem_that_operations_share_stands_once() {
    let document = garden();
    let text = document["paths"].to_string();
    assert!(
        !text.contains("\"summary\":\"The headers are too large\""),
        "{text}"
    );
    let shared = document["components"]["responses"].as_object().unwrap();
    let references = |name: &str| text.matches(&format!("responses/{name}\"")).count();
    for (name, response) in shared {
        assert!(references(name) > 1, "{name}: {response}");
    }
}

#[test]
fn whole_numbers_have_the_bounds_of_their_type() {
    let leaves = &garden()["components"]["schemas"]["PlantTreeCommand"]["properties"]["numLeaves"];
    assert_eq!(leaves["maximum"], json!(i64::MAX));
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(object) => {
                if let Some(Value::String(reference)) = object.get("$ref") {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                object.values().for_each(|value| check(value, document));
            }
            Value::Array(values) => values.iter().for_each(|value| check(value, document)),
            _ => {}
        }
    }
    let document = garden();
    check(&document, &document);
}

#[test]
fn generators_find_a_name_for_every_object() {
    fn check(value: &Value, place: &str) {
        match value {
            Value::Object(object) => {
                let is_named =
                    place.matches('/').count() == 3 && place.starts_with("/components/schemas/");
                let is_anonymous = object.contains_key("properties");
                assert!(
                    is_named || !is_anonymous,
                    "{place} is a schema without a name"
                );
                for (key, value) in object {
                    check(value, &format!("{place}/{}", key.replace('/', "~1")));
                }
            }
            Value::Array(values) => values
                .iter()
                .for_each(|value| check(value, &format!("{place}/-"))),
            _ => {}
        }
    }
    check(&garden(), "");
}

#[test]
fn the_schema_of_a_problem_leaves_its_type_open_and_each_response_has_an_example_of_its_own() {
    let document = garden();
    let schemas = &document["components"]["schemas"];
    assert_eq!(
        schemas["Problem"]["properties"]["type"]["enum"],
        Value::Null
    );
    let invalid = &schemas["InvalidValuesProblem"];
    let uri = "tag:es-framework,2026:problem:invalid-values";
    assert_eq!(invalid["properties"]["type"]["const"], uri);
    assert!(
        invalid["required"]
            .as_array()
            .unwrap()
            .contains(&json!("errors"))
    );
    let refused = response(&document, &document["paths"]["/trees/water"]["post"], "422");
    let content = &refused["content"]["application/problem+json"];
    let reference = json!({ "$ref": "#/components/schemas/UnprocessableProblem" });
    assert_eq!(content["schema"], reference);
    assert_eq!(content["examples"]["invalid-values"]["value"]["type"], uri);
}

#[test]
fn an_application_may_have_types_that_are_named_like_those_of_the_framework() {
    let mut schemas = super::Schemas::default();
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Problem {
        exercise: String,
    }
    schemas.response_generator_mut().subschema_for::<Problem>();
    super::problem_schemas::add_schemas(&mut schemas);
    let reference = super::problem_reference();
    let document = schemas.add_to_document(json!({ "schema": reference, "components": {} }));
    assert_eq!(
        document["schema"]["$ref"],
        "#/components/schemas/FrameworkProblem"
    );
    let problem = &document["components"]["schemas"]["Problem"];
    assert!(problem["properties"]["exercise"].is_object(), "{problem}");
}
