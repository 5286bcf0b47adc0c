//! The subcommand `contract` finds changes that break clients, in a copy of the library's document that has what
//! the library no longer has.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::scratch_folder::{checkout, empty_folder, run_es};

/// The library's document.
fn document() -> Value {
    let file = checkout().join("library-app/openapi.json");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Compares a document with a description of the library, and returns the output with the success.
fn compare(folder: &Path, committed: &str) -> (bool, String) {
    let node = |route: &str, file: &str| json!({ "route": route, "file": file, "line": 11 });
    let nodes = [
        node("POST /books/purchase", "src/book/purchase.rs"),
        node("POST /books/remove", "src/book/remove.rs"),
    ];
    let description = json!({ "model": { "nodes": nodes }, "openapi": document() });
    fs::write(folder.join("library.json"), description.to_string()).unwrap();
    let output = run_es(
        folder,
        &format!("contract {committed} --description library.json"),
    );
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Compares a changed copy of the committed document.
fn compare_changed(name: &str, change: impl Fn(&mut Value)) -> (bool, String) {
    let mut committed = document();
    change(&mut committed);
    let folder = empty_folder(name);
    fs::write(folder.join("openapi.json"), committed.to_string()).unwrap();
    compare(&folder, "")
}

#[test]
fn a_document_that_is_equal_has_not_changed() {
    let (succeeded, text) = compare_changed("contract-equal", |_| {});
    assert!(
        succeeded && text.contains("the API has not changed"),
        "{text}"
    );
}

#[test]
fn a_change_that_breaks_clients_is_explained_at_its_declaration() {
    let (succeeded, text) = compare_changed("contract-broken", |document| {
        let schemas = &mut document["components"]["schemas"];
        let purchase = &mut schemas["PurchaseBookCommand"];
        purchase["properties"]["shelf"] = json!({ "type": "string" });
        purchase["properties"]["title"]["maxLength"] = json!(900);
        let required = purchase["required"].as_array_mut().unwrap();
        required.retain(|name| name != "author");
        schemas["BookCopy"]["properties"]["edition"] = json!({ "type": "string" });
        schemas["CopyStatus"]["enum"] = json!(["available", "lent"]);
        let paths = &mut document["paths"];
        paths["/books/scan"] = json!({ "post": {} });
        paths["/books/return"]["post"]["responses"]["202"] = json!({});
        let browse = paths["/books"]["get"]["parameters"].as_array_mut().unwrap();
        browse.push(json!({ "in": "query", "name": "shelf", "schema": {} }));
    });
    assert!(!succeeded, "{text}");
    for part in [
        "changes of the API break clients",
        "POST /books/purchase at src/book/purchase.rs:11:",
        "the request no longer takes the member shelf: clients that send it get the status 422",
        "the member author of the request is required",
        "the member title of the request has maxLength 500, and had 900",
        "the response 200 no longer has the member items[].edition",
        "the member items[].status of the response 200 can be \"removed\"",
        "POST /books/scan: the API no longer has this operation",
        "the status 202 is gone",
        "the query parameter shelf is gone",
        "\n  - restore the field",
    ] {
        assert!(text.contains(part), "{text} does not contain {part}");
    }
}

#[test]
fn changes_that_no_client_notices_are_listed() {
    let (succeeded, text) = compare_changed("contract-kept", |document| {
        let schemas = &mut document["components"]["schemas"];
        let purchase = &mut schemas["PurchaseBookCommand"];
        purchase["properties"]["title"]["maxLength"] = json!(400);
        let loan = schemas["Loan"].as_object_mut().unwrap();
        loan["properties"] = json!({});
        loan.remove("required");
        let paths = document["paths"].as_object_mut().unwrap();
        paths.remove("/books/remove");
    });
    assert!(succeeded, "{text}");
    for part in [
        "no change of the API breaks clients",
        "has maxLength 500, and had 400",
        "the response 200 has the new member dueAt",
        "POST /books/remove at src/book/remove.rs:11:",
        "the file is out of date: write it with `cargo es openapi > openapi.json`",
    ] {
        assert!(text.contains(part), "{text} does not contain {part}");
    }
}

#[test]
fn a_file_that_is_no_document_is_named() {
    let folder = empty_folder("contract-malformed");
    let (succeeded, text) = compare(&folder, "");
    assert!(
        !succeeded && text.contains("there is no openapi.json: write it"),
        "{text}"
    );
    for (content, message) in [
        ("{", "api.json is not JSON"),
        ("[]", "api.json is no OpenAPI document"),
    ] {
        fs::write(folder.join("api.json"), content).unwrap();
        let (succeeded, text) = compare(&folder, "api.json");
        assert!(!succeeded && text.contains(message), "{text}");
    }
}

#[test]
fn a_file_that_is_no_description_is_named() {
    let folder = empty_folder("no-description");
    fs::write(folder.join("library.json"), document().to_string()).unwrap();
    for (file, message) in [
        ("library.json", "write it with the subcommand `describe`"),
        ("nothing.json", "nothing.json: No such file"),
    ] {
        let output = run_es(&folder, &format!("openapi --description {file}"));
        let text = String::from_utf8(output.stderr).unwrap().to_lowercase();
        assert!(!output.status.success());
        assert!(text.contains(&message.to_lowercase()), "{text}");
    }
}
