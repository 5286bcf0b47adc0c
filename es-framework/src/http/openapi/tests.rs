//! The document of the garden.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::document;
use crate::{
    command::Registry,
    http::{operator, routes},
    projection::ReadModels,
    query::{Queries, QueryRoute},
    test_fixture::{PlantTreeCommand, TREES, WaterTreeCommand},
};

fn registry() -> Registry {
    let registry = Registry::builder().command::<PlantTreeCommand>();
    registry.command::<WaterTreeCommand>().build().unwrap()
}

fn queries() -> Vec<QueryRoute> {
    let models = ReadModels::new([TREES]).unwrap();
    let (queries, models) = Queries::new([], models).unwrap();
    queries.routes(&models)
}

fn garden() -> Value {
    document("garden", &registry(), &queries())
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
    let mounted = routes(&registry(), queries(), served).into_iter();
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
    let problem = &water["404"]["content"]["application/problem+json"];
    let types = &problem["schema"]["properties"]["type"]["enum"];
    assert_eq!(types, &json!(["tag:es-framework,2026:problem:not-found"]));
    assert!(
        water["503"]["headers"]["Retry-After"].is_object(),
        "{water}"
    );
}

#[test]
fn operators_have_a_credential_of_their_own() {
    let document = garden();
    let skip = &document["paths"]["/actuator/reactions/{name}/skip"]["post"];
    assert_eq!(skip["security"], json!([{ "operator": [] }]));
    let refused = &skip["responses"]["401"];
    assert!(refused["headers"]["WWW-Authenticate"].is_object(), "{skip}");
    let types = &refused["content"]["application/problem+json"]["schema"]["properties"]["type"];
    assert_eq!(
        types["enum"],
        json!(["tag:es-framework,2026:problem:operators-only"])
    );
    let shown = &document["paths"]["/actuator/reactions"]["get"];
    assert_eq!(shown["security"], json!([{ "operator": [] }, {}]));
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
fn the_page_lists_what_each_command_takes_and_its_own_problems() {
    let page = super::markdown::write_page(&garden());
    let plant = page.split("### PlantTreeCommand").nth(1).unwrap();
    let plant = plant.split("### ").next().unwrap();
    for line in [
        "`POST /trees/{id}/plant`",
        "| `id` | string |  |",
        "| `numLeaves` | int64 |  |",
        "| 409 | `already-exists` | It already exists |",
    ] {
        assert!(plant.contains(line), "{line}:\n{page}");
    }
    assert!(!plant.contains("malformed-body"), "{page}");
}
