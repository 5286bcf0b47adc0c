//! Renders the document as a Markdown page: the parameters and the problems of each operation.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::Value;

/// Renders the page of a document.
pub(super) fn render_page(document: &Value) -> String {
    let title = document["info"]["title"].as_str().unwrap_or_default();
    let mut page = format!(
        "# The API of {title}\n\nThe program generates this page from the OpenAPI document at `/openapi.json`. [HTTP](http.md) describes\neverything that all applications share, such as headers and the problems of the framework.\n"
    );
    for (heading, method) in [("Commands", "post"), ("Queries", "get")] {
        let all: Vec<_> = operations(document, method).collect();
        if all.is_empty() {
            continue;
        }
        line(&mut page, &format!("\n## {heading}"));
        let common = common_problems(document, &all);
        line(
            &mut page,
            "\nEach of these operations can respond with these problems:\n",
        );
        line(&mut page, &problem_table(common.iter().cloned()));
        for (path, operation) in all {
            let route = format!("{} {path}", method.to_uppercase());
            section(&mut page, document, &route, operation, &common);
        }
    }
    page
}

fn operations<'a>(
    document: &'a Value,
    method: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.filter_map(move |(path, operations)| {
        // Another page describes the routes that every application has.
        let is_own = path.starts_with("/actuator") || path == "/openapi.json";
        let operation = operations.get(method).filter(|_| !is_own)?;
        Some((path.as_str(), operation))
    })
}

fn section(
    page: &mut String,
    document: &Value,
    route: &str,
    operation: &Value,
    common: &BTreeSet<Problem>,
) {
    let text = |name: &str| operation[name].as_str().unwrap_or_default();
    let id = text("operationId");
    line(
        page,
        &format!("\n### {id}\n\n`{route}`\n\n{}", text("summary")),
    );
    if !text("description").is_empty() {
        line(page, &format!("\n{}", text("description")));
    }
    parameters(page, document, operation);
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if !body.is_null() {
        members(page, document, "field", resolved(document, body));
    }
    answers(page, document, operation);
    let own: Vec<_> = problems(document, operation)
        .filter(|problem| !common.contains(problem))
        .collect();
    if !own.is_empty() {
        line(page, &format!("\n{}", problem_table(own)));
    }
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

/// Writes the parameters in the path and the query. Another page describes the headers.
fn parameters(page: &mut String, document: &Value, operation: &Value) {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let own: Vec<_> = parameters
        .filter(|parameter| parameter["name"].is_string())
        .collect();
    if own.is_empty() {
        return;
    }
    line(page, "\n| parameter | type | meaning |\n|---|---|---|");
    for parameter in own {
        let name = parameter["name"].as_str().unwrap_or_default();
        let required = parameter["required"] == true;
        row(
            page,
            document,
            name,
            parameter,
            &parameter["schema"],
            required,
        );
    }
}

/// Writes the members of an object.
fn members(page: &mut String, document: &Value, heading: &str, object: &Value) {
    let required: Vec<_> = object["required"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let Some(properties) = object["properties"].as_object() else {
        return;
    };
    line(
        page,
        &format!("\n| {heading} | type | meaning |\n|---|---|---|"),
    );
    // The list of required members has the order of the declaration.
    let is_required = |name: &str| required.iter().any(|one| *one == name);
    let declared = required.iter().filter_map(|name| name.as_str());
    let others = properties.keys().map(String::as_str);
    for name in declared.chain(others.filter(|name| !is_required(name))) {
        if let Some(schema) = properties.get(name) {
            row(page, document, name, schema, schema, is_required(name));
        }
    }
}

fn row(
    page: &mut String,
    document: &Value,
    name: &str,
    described: &Value,
    schema: &Value,
    required: bool,
) {
    let kind = kind(document, schema);
    let optional = if required { "" } else { ", optional" };
    let text = cell(described["description"].as_str().unwrap_or_default());
    line(page, &format!("| `{name}` | {kind}{optional} | {text} |"));
}

/// Escapes a text for a cell of a table.
fn cell(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// Describes the type of a value and its limits.
fn kind(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
        return values.join(" or ");
    }
    let mut text = match schema["type"].as_str() {
        Some("array") => format!("list of {}", kind(document, &schema["items"])),
        Some(name) => schema["format"].as_str().unwrap_or(name).to_owned(),
        None => any_of(document, schema),
    };
    for (limit, words) in LIMITS {
        let value = &schema[limit];
        // The bounds of the integer type itself carry no information.
        let is_end = [i64::MIN, i64::MAX].iter().any(|end| value == end);
        if !value.is_null() && !is_end {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), |text| format!("`{text}`"));
            // Writing to a String cannot fail.
            let _ = write!(text, ", {words} {}", cell(&value));
        }
    }
    text
}

const LIMITS: [(&str, &str); 7] = [
    ("minimum", "from"),
    ("maximum", "to"),
    ("minLength", "characters from"),
    ("maxLength", "characters to"),
    ("maxItems", "values to"),
    ("pattern", "pattern"),
    ("default", "by default"),
];

fn any_of(document: &Value, schema: &Value) -> String {
    if let Some(types) = schema["type"].as_array() {
        let types: Vec<_> = types.iter().filter_map(Value::as_str).collect();
        return match schema["format"].as_str() {
            Some(format) if types.contains(&"null") => format!("{format} or null"),
            _ => types.join(" or "),
        };
    }
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let kinds: Vec<_> = choices.map(|one| kind(document, one)).collect();
    if kinds.is_empty() {
        "anything".to_owned()
    } else {
        kinds.join(" or ")
    }
}

/// Returns what a reference to a schema or a response refers to.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let pointer = value["$ref"]
        .as_str()
        .and_then(|name| name.strip_prefix('#'));
    pointer
        .and_then(|pointer| document.pointer(pointer))
        .unwrap_or(value)
}

fn answers(page: &mut String, document: &Value, operation: &Value) {
    let responses = operation["responses"].as_object().into_iter().flatten();
    for (status, answer) in responses {
        let description = answer["description"].as_str().unwrap_or_default();
        let schema = &answer["content"]["application/json"]["schema"];
        if !status.starts_with('2') {
            continue;
        }
        line(page, &format!("\nResponse `{status}`: {description}"));
        if schema.is_null() {
            continue;
        }
        let mut shown = resolved(document, schema);
        if shown["type"] == "array" {
            line(page, "\nA list of:");
            shown = resolved(document, &shown["items"]);
        } else if !shown["properties"]["items"].is_null() {
            line(
                page,
                "\nA page, `{\"items\": […], \"nextCursor\": \"…\"}`, of:",
            );
            shown = resolved(document, &shown["properties"]["items"]["items"]);
        }
        members(page, document, "member", shown);
    }
}

/// The status, the last segment of the type, and the title of a problem.
type Problem = (String, String, String);

fn problems<'a>(document: &'a Value, operation: &'a Value) -> impl Iterator<Item = Problem> + 'a {
    let responses = operation["responses"].as_object().into_iter().flatten();
    responses.flat_map(move |(status, answer)| {
        let examples =
            &resolved(document, answer)["content"]["application/problem+json"]["examples"];
        let named = examples.as_object().into_iter().flatten();
        named.map(|(name, example)| {
            let title = example["summary"].as_str().unwrap_or_default();
            (status.clone(), name.clone(), cell(title))
        })
    })
}

fn common_problems(document: &Value, all: &[(&str, &Value)]) -> BTreeSet<Problem> {
    let each = all
        .iter()
        .map(|(_, operation)| problems(document, operation).collect());
    each.reduce(|one: BTreeSet<_>, other| &one & &other)
        .unwrap_or_default()
}

fn problem_table(problems: impl IntoIterator<Item = Problem>) -> String {
    let rows = problems
        .into_iter()
        .map(|(status, name, title)| format!("| {status} | `{name}` | {title} |"));
    let heading = "| problem | type ends in | |\n|---|---|---|".to_owned();
    [heading]
        .into_iter()
        .chain(rows)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A response with problems by their names and titles.
    fn response(problems: &[(&str, &str)]) -> Value {
        let named = problems.iter().map(|(name, title)| {
            let example = json!({ "summary": title });
            ((*name).to_owned(), example)
        });
        let examples: serde_json::Map<_, _> = named.collect();
        json!({ "content": { "application/problem+json": { "examples": examples } } })
    }

    #[test]
    fn the_page_lists_what_each_command_takes_and_its_own_problems() {
        let malformed = ("malformed-body", "The body is malformed");
        let exists = ("already-exists", "It already exists");
        let body = json!({ "content": { "application/json": { "schema": {
            "$ref": "#/components/schemas/Body" } } } });
        let document = json!({
            "info": { "title": "garden" },
            "paths": {
                "/trees/{id}/plant": { "post": {
                    "operationId": "PlantTreeCommand",
                    "summary": "Plants a tree.",
                    "parameters": [{ "name": "id", "required": true, "schema": { "type": "string" } }],
                    "requestBody": body,
                    "responses": { "400": response(&[malformed]), "409": response(&[exists]) },
                } },
                "/trees/water": { "post": {
                    "operationId": "WaterTreeCommand",
                    "responses": { "400": { "$ref": "#/components/responses/malformed-body" } },
                } },
            },
            "components": { "responses": { "malformed-body": response(&[malformed]) }, "schemas": { "Body": {
                "properties": {
                    "numLeaves": { "type": "integer", "format": "int64", "minimum": 1 },
                    "note": { "type": ["string", "null"] },
                },
                "required": ["numLeaves"],
            } } },
        });
        let page = render_page(&document);
        let plant = page.split("### PlantTreeCommand").nth(1).unwrap();
        for line in [
            "`POST /trees/{id}/plant`",
            "| `id` | string |  |",
            "| `numLeaves` | int64, from 1 |  |",
            "| `note` | string or null, optional |  |",
            "| 409 | `already-exists` | It already exists |",
        ] {
            assert!(plant.contains(line), "{line}:\n{page}");
        }
        assert!(!plant.contains("malformed-body"), "{page}");
        assert!(page.contains("| 400 | `malformed-body` |"), "{page}");
    }
}
