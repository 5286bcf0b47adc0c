//! Each kind of change, by hand-written documents.

use serde_json::{Map, Value, json};

use super::ContractComparison;

fn nowhere(_: &str, _: &str) -> Option<String> {
    None
}

fn compared(before: &Value, after: &Value) -> ContractComparison {
    ContractComparison::new(before, after, nowhere)
}

/// A document of one operation.
fn operation(operation: &Value) -> Value {
    json!({ "paths": { "/books/{id}": { "post": operation } } })
}

fn request(schema: &Value) -> Value {
    let content = json!({ "application/json": { "schema": schema } });
    operation(&json!({ "requestBody": { "content": content, "required": true } }))
}

fn response(schema: &Value) -> Value {
    let content = json!({ "application/json": { "schema": schema } });
    operation(&json!({ "responses": { "200": { "content": content } } }))
}

fn assert_breaks(before: &Value, after: &Value, text: &str) {
    let comparison = compared(before, after);
    let report = comparison.to_string();
    assert!(comparison.is_breaking(), "{report}");
    assert!(report.contains(text), "{report} does not contain {text}");
}

fn assert_compatible(before: &Value, after: &Value, text: &str) {
    let comparison = compared(before, after);
    let report = comparison.to_string();
    assert!(!comparison.is_breaking(), "{report}");
    assert!(report.contains(text), "{report} does not contain {text}");
}

/// A change that breaks clients in one direction, and is compatible in the other one.
fn assert_narrows(wide: &Value, narrow: &Value, text: &str) {
    assert_breaks(&request(wide), &request(narrow), text);
    assert_compatible(&response(wide), &response(narrow), "");
}

#[test]
fn equal_documents_have_no_change() {
    let document = request(&json!({ "type": "object", "properties": { "id": {} } }));
    assert_compatible(&document, &document, "the API has not changed");
    assert_compatible(&Value::Null, &json!([]), "the API has not changed");
}

#[test]
fn an_operation_that_is_gone_breaks_clients_and_a_new_one_does_not() {
    let (empty, one) = (json!({ "paths": {} }), operation(&json!({})));
    assert_breaks(
        &one,
        &empty,
        "POST /books/{id}: the API no longer has this operation",
    );
    assert_compatible(&empty, &one, "POST /books/{id}: the operation is new");
    let renamed = json!({ "paths": { "/books/{isbn}": { "post": {} } } });
    assert_compatible(&one, &renamed, "the API has not changed");
}

#[test]
fn generated_clients_need_the_operation_id() {
    let id = |id: &str| operation(&json!({ "operationId": id }));
    assert_breaks(
        &id("Buy"),
        &id("Purchase"),
        "operationId is \"Purchase\", and was \"Buy\"",
    );
}

#[test]
fn another_role_breaks_clients_and_no_role_does_not() {
    let access = |security: Value| operation(&json!({ "security": security }));
    let role = |role: &str| access(json!([{ "bearer": [role] }, {}]));
    let open = access(json!([{ "bearer": [] }, {}]));
    assert_breaks(
        &role("reader"),
        &role("staff"),
        "it requires the credential bearer with the role staff, and required the credential bearer with the role reader",
    );
    assert_breaks(&open, &role("staff"), "with the role staff");
    assert_compatible(
        &role("staff"),
        &open,
        "can be called with the credential bearer",
    );
    assert_compatible(&open, &open, "the API has not changed");
    let closed = access(json!([{ "operator": [] }]));
    assert_breaks(&operation(&json!({})), &closed, "required no credential");
    assert_breaks(&open, &closed, "it requires the credential operator");
    let public = access(json!([]));
    for known in [&open, &role("staff"), &closed] {
        assert_compatible(known, &public, "can be called with no credential");
        assert_breaks(&public, known, "and required no credential");
    }
    assert_compatible(&public, &public, "the API has not changed");
}

#[test]
fn a_narrower_type_breaks_those_who_send_it_and_not_those_who_read_it() {
    for (wide, narrow, text) in [
        (
            json!({ "type": "number" }),
            json!({ "type": "integer" }),
            "has the type integer, and had the type number",
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "type": "string" }),
            "has the type string, and had the type null or string",
        ),
        (
            json!({}),
            json!({ "type": "string" }),
            "had the type any value",
        ),
        (
            json!({ "enum": ["a", "b"] }),
            json!({ "enum": ["a"] }),
            "no longer takes \"b\"",
        ),
        (
            json!({ "type": "string" }),
            json!({ "type": "string", "enum": ["a"] }),
            "takes only listed values",
        ),
        (
            json!({ "oneOf": [{ "const": "a" }, { "const": "b" }] }),
            json!({ "const": "a" }),
            "no longer takes \"b\"",
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            json!({ "type": "string" }),
            "has the type string",
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!({ "type": "integer" }),
            "no longer takes each of its forms",
        ),
        (
            json!({ "type": "array", "items": { "type": "number" } }),
            json!({ "type": "array", "items": { "type": "integer" } }),
            "the member [] of",
        ),
        (
            json!({ "additionalProperties": { "type": "number" } }),
            json!({ "additionalProperties": { "type": "integer" } }),
            "the member * of",
        ),
    ] {
        assert_narrows(&wide, &narrow, text);
        let [wide, narrow] = [response(&wide), response(&narrow)];
        assert_breaks(&narrow, &wide, "POST /books/{id}: the ");
    }
}

#[test]
fn a_tighter_rule_breaks_those_who_send() {
    for (wide, narrow, text) in [
        (
            json!({ "maximum": 9 }),
            json!({ "maximum": 5 }),
            "the request has maximum 5, and had 9",
        ),
        (
            json!({}),
            json!({ "minLength": 2 }),
            "has minLength 2, and had none",
        ),
        (
            json!({ "minimum": 1 }),
            json!({ "minimum": 2 }),
            "has minimum 2, and had 1",
        ),
        (
            json!({}),
            json!({ "pattern": "^a$" }),
            "has the pattern ^a$, and had none",
        ),
        (
            json!({}),
            json!({ "format": "uuid" }),
            "has the format uuid, and had none",
        ),
    ] {
        assert_narrows(&wide, &narrow, text);
        let [wide, narrow] = [request(&wide), request(&narrow)];
        assert_compatible(&narrow, &wide, "the request has ");
    }
    let [long, short] =
        ["int64", "int32"].map(|format| json!({ "type": "integer", "format": format }));
    assert_breaks(
        &response(&short),
        &response(&long),
        "has the format int64, and had int32",
    );
    assert_compatible(&request(&short), &request(&long), "the API has not changed");
}

#[test]
fn members_break_clients_by_direction() {
    let members = |names: &[&str], required: &[&str]| {
        let members = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({ "type": "string" })));
        let members: serde_json::Map<_, _> = members.collect();
        json!({ "properties": members, "required": required, "additionalProperties": false })
    };
    let (one, two) = (members(&["a"], &["a"]), members(&["a", "b"], &["a"]));
    let all = members(&["a", "b"], &["a", "b"]);
    assert_breaks(
        &request(&two),
        &request(&one),
        "the request no longer takes the member b",
    );
    assert_breaks(
        &request(&one),
        &request(&all),
        "the request requires the new member b",
    );
    assert_breaks(
        &request(&two),
        &request(&all),
        "the member b of the request is required",
    );
    assert_compatible(
        &request(&one),
        &request(&two),
        "the request has the new member b",
    );
    assert_compatible(
        &request(&all),
        &request(&two),
        "the member b of the request may be absent",
    );
    assert_breaks(
        &response(&all),
        &response(&one),
        "the response 200 no longer has the member b",
    );
    assert_breaks(
        &response(&all),
        &response(&two),
        "the member b of the response 200 may be absent",
    );
    assert_compatible(
        &response(&one),
        &response(&all),
        "the response 200 has the new member b",
    );
}

#[test]
fn a_schema_that_contains_itself_is_compared_once() {
    let document = |kind: &str| {
        let tree = json!({ "$ref": "#/components/schemas/Tree" });
        let properties =
            json!({ "kind": { "type": kind }, "next": tree, "all": { "items": tree } });
        let schemas = json!({ "Tree": { "properties": properties, "oneOf": [tree, tree] } });
        let mut document = request(&tree);
        document["components"] = json!({ "schemas": schemas });
        document
    };
    assert_compatible(&document("string"), &document("string"), "has not changed");
    let without_choice = |kind| {
        let mut document = document(kind);
        let tree = &mut document["components"]["schemas"]["Tree"];
        tree.as_object_mut().unwrap().remove("oneOf");
        document
    };
    let (before, after) = (without_choice("string"), without_choice("integer"));
    assert_breaks(
        &before,
        &after,
        "the member kind of the request has the type integer",
    );
}

#[test]
fn parameters_and_responses_break_clients() {
    let parameters = |required: &[bool]| {
        let parameter = |(number, required): (usize, &bool)| json!({ "in": "query", "name": format!("p{number}"), "required": required });
        let parameters: Vec<_> = required.iter().enumerate().map(parameter).collect();
        operation(&json!({ "parameters": parameters }))
    };
    assert_breaks(
        &parameters(&[false]),
        &parameters(&[]),
        "the query parameter p0 is gone",
    );
    assert_breaks(
        &parameters(&[false]),
        &parameters(&[true]),
        "the query parameter p0 is required",
    );
    assert_breaks(
        &parameters(&[]),
        &parameters(&[true]),
        "p0 is new and required",
    );
    assert_compatible(
        &parameters(&[]),
        &parameters(&[false]),
        "the query parameter p0 is new",
    );

    let responses = |responses: Value| operation(&json!({ "responses": responses }));
    let [created, both] = [json!({ "201": {} }), json!({ "201": {}, "409": {} })].map(responses);
    assert_breaks(&both, &created, "the status 409 is gone");
    assert_compatible(&created, &both, "the status 409 is new");
    let other = responses(json!({ "200": {}, "201": {} }));
    assert_breaks(
        &created,
        &other,
        "the status 200 is new: clients do not know",
    );
    let response = json!({ "content": { "text/plain": {} }, "headers": { "ETag": {} } });
    let whole = responses(json!({ "201": response }));
    assert_breaks(&whole, &created, "no longer has the format text/plain");
    assert_breaks(&whole, &created, "no longer has the header ETag");
}

#[test]
fn a_new_problem_is_compatible_and_a_lost_one_is_not() {
    let problems = |types: &[&str]| {
        let titles: Vec<_> = types.iter().map(|one| format!("Title of {one}")).collect();
        let members = json!({ "type": { "enum": types }, "title": { "enum": titles } });
        let content =
            json!({ "application/problem+json": { "schema": { "properties": members } } });
        operation(&json!({ "responses": { "409": { "content": content } } }))
    };
    let (one, two) = (problems(&["lent"]), problems(&["lent", "gone"]));
    assert_compatible(&one, &two, "the response 409 has the new problem \"gone\"");
    assert_breaks(
        &two,
        &one,
        "the response 409 no longer has the problem \"gone\"",
    );
}

#[test]
fn a_problem_may_get_a_schema_of_its_own() {
    let members =
        json!({ "type": { "enum": ["a", "b"] }, "detail": {}, "errors": { "items": {} } });
    let problem =
        json!({ "type": "object", "properties": members, "required": ["type", "detail"] });
    let mut exact = problem.clone();
    exact["properties"]["type"] = json!({ "const": "a" });
    exact["required"] = json!(["type", "detail", "errors"]);
    let mut open = problem.clone();
    open["properties"]["type"] = json!({ "type": "string" });
    let union = json!({ "anyOf": [exact, open] });
    let response_with = |types: &[&str], schema: &Value| {
        let examples: Vec<_> = types
            .iter()
            .map(|kind| json!({ "value": { "type": kind } }))
            .collect();
        let examples: Map<_, _> = types
            .iter()
            .map(|kind| (*kind).to_owned())
            .zip(examples)
            .collect();
        let content =
            json!({ "application/problem+json": { "schema": schema, "examples": examples } });
        operation(&json!({ "responses": { "422": { "content": content } } }))
    };
    let response = |schema: &Value| response_with(&["a", "b"], schema);
    assert_compatible(&response(&problem), &response(&union), "");
    assert_compatible(&response(&union), &response(&problem), "");
    let mut less = problem.clone();
    less["properties"].as_object_mut().unwrap().remove("errors");
    let text = "the response 422 no longer has the member errors";
    assert_breaks(&response(&union), &response(&less), text);
    let text = "the response 422 no longer has the problem \"b\"";
    assert_breaks(&response(&problem), &response_with(&["a"], &union), text);
    assert_breaks(&response(&union), &response_with(&["a"], &union), text);
}

#[test]
fn an_integer_of_a_response_may_get_a_narrower_format() {
    let integer = |format: &str, minimum: i64| {
        response(&json!({ "type": "integer", "format": format, "minimum": minimum }))
    };
    let text = "has the format int64, and had uint64";
    assert_compatible(&integer("uint64", 0), &integer("int64", 0), text);
    assert_breaks(&integer("uint64", 0), &integer("int64", -1), text);
    let text = "has the format int64, and had int32";
    assert_breaks(&integer("int32", 0), &integer("int64", 0), text);
}
