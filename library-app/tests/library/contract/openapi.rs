//! The OpenAPI document is valid, is equal to the committed copy, and describes all responses.

use std::{fs, path::Path, process::Command};

use super::tools::{described, require_cargo_es, run_cargo_es};
use crate::support::{
    Library, get, json_of,
    python_environment::{printed, programs_of},
};
use reqwest::StatusCode;
use serde_json::{Value, json};

fn check_kept(file: &str, printed: &str, command: &str) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let kept = fs::read_to_string(kept).unwrap_or_default();
    assert!(
        kept == printed,
        "{file} is not what the library says of itself: look at what `(cd library-app && cargo es openapi {command})` changes"
    );
}

#[test]
fn the_document_is_the_one_that_is_kept() {
    let document = format!("{:#}\n", described("openapi"));
    check_kept("library-app/openapi.json", &document, "> openapi.json");
}

#[test]
fn the_page_of_the_api_is_made_from_the_document() {
    let Some(program) = require_cargo_es() else {
        return;
    };
    let page = run_cargo_es(&program, &["openapi", "--format", "markdown"]);
    let file = "docs/src/reference/library-api.md";
    check_kept(file, &page, &format!("--format markdown > ../{file}"));
}

#[tokio::test]
async fn the_document_is_served_as_it_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let answer = get(&format!("{}/openapi.json", library.url)).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(json_of(answer).await, described("openapi"));
}

/// Client generators copy the examples into documentation and tests.
#[test]
fn every_example_fits_its_schema() {
    let document = described("openapi");
    let mut examples = Vec::new();
    collect_examples(&document, "", &mut examples);
    assert!(examples.len() > 80, "{}", examples.len());
    for (place, schema, example) in examples {
        let root = json!({ "allOf": [schema], "components": document["components"] });
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&root)
            .unwrap();
        let mistakes: Vec<_> = validator
            .iter_errors(example)
            .map(|error| error.to_string())
            .collect();
        assert!(mistakes.is_empty(), "{place}: {example}: {mistakes:?}");
    }
}

/// Collects the places of all examples with their schemas: those of a schema, and those of a media type.
fn collect_examples<'a>(
    value: &'a Value,
    place: &str,
    examples: &mut Vec<(String, &'a Value, &'a Value)>,
) {
    if let Some(of_schema) = value["examples"].as_array() {
        examples.extend(
            of_schema
                .iter()
                .map(|example| (place.to_owned(), value, example)),
        );
    }
    if let Some(of_content) = value["examples"].as_object() {
        let named = of_content.values();
        examples
            .extend(named.map(|example| (place.to_owned(), &value["schema"], &example["value"])));
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "examples") {
                collect_examples(member, &format!("{place}/{name}"), examples);
            }
        }
        Value::Array(values) => {
            values
                .iter()
                .for_each(|value| collect_examples(value, place, examples));
        }
        _ => {}
    }
}

#[test]
fn the_document_follows_the_official_schema_of_each_version() {
    let Some(programs) = programs_of("openapi", &["openapi-spec-validator==0.9.0"]) else {
        return;
    };
    let Some(cargo_es) = require_cargo_es() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openapi.json");
    for version in ["3.1", "3.0"] {
        let document = run_cargo_es(&cargo_es, &["openapi", "--openapi-version", version]);
        fs::write(&file, document).unwrap();
        let mut validator = Command::new(programs.join("openapi-spec-validator"));
        let schema = format!("--schema={version}");
        let output = validator.arg(schema).arg(&file).output().unwrap();
        assert!(output.status.success(), "{}", printed(&output));
    }
}

/// Sends requests that the document allows or forbids, and compares every response with it.
#[test]
fn the_library_does_what_its_document_says() {
    let Some(programs) = programs_of("schemathesis", &["schemathesis==4.32.5"]) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    let checks =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/contract/schemathesis_checks.py");
    let mut schemathesis = Command::new(programs.join("schemathesis"));
    let output = schemathesis
        .current_dir(folder.path())
        // Python would send requests to the loopback address through a proxy of the environment.
        .env("NO_PROXY", "*")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SCHEMATHESIS_HOOKS", checks)
        .args(["run", "--checks=all", "--max-examples=40", "--seed=1"])
        .args(["--exclude-checks=positive_data_acceptance", "--no-color"])
        .args(["--continue-on-failure", "--suppress-health-check=all"])
        .arg(format!("{}/openapi.json", library.url))
        .output();
    let output = output.unwrap();
    let text = printed(&output);
    assert!(output.status.success(), "{text}");
    assert!(cases_in(&text) > 1_000, "{text}");
}

/// The number of test cases that Schemathesis reports.
fn cases_in(text: &str) -> u32 {
    let count = text.lines().find_map(|line| {
        let (count, _) = line.trim().split_once(" generated, ")?;
        count.parse().ok()
    });
    count.unwrap_or_default()
}
