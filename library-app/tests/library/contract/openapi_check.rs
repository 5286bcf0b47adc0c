//! The subcommand `openapi check` finds changes that break clients, in a copy of the committed document
//! that has what the program no longer has.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};

/// The output of `library-app openapi check`, with its success.
fn check(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .args(["openapi", "check"])
        .args(arguments)
        .current_dir(folder)
        // The subcommand needs no data directory.
        .env("EVENT_STORE_DATA_DIR", "/nowhere")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Checks a changed copy of the committed document.
fn check_changed(change: impl Fn(&mut Value)) -> (bool, String) {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let mut document = serde_json::from_str(&fs::read_to_string(committed).unwrap()).unwrap();
    change(&mut document);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("openapi.json"), document.to_string()).unwrap();
    check(folder.path(), &[])
}

#[test]
fn the_committed_document_has_not_changed() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let (succeeded, text) = check(Path::new("/"), &[committed.to_str().unwrap()]);
    assert!(
        succeeded && text.contains("the API has not changed"),
        "{text}"
    );
}

#[test]
fn a_change_that_breaks_clients_is_explained_at_its_declaration() {
    let (succeeded, text) = check_changed(|document| {
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
        "POST /books/purchase at library-app/src/book/purchase.rs:",
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
    let (succeeded, text) = check_changed(|document| {
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
        "POST /books/remove at library-app/src/book/remove.rs:",
        "the file is out of date: write it with the subcommand `openapi > openapi.json`",
    ] {
        assert!(text.contains(part), "{text} does not contain {part}");
    }
}

#[test]
fn a_file_that_is_no_document_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (succeeded, text) = check(folder.path(), &[]);
    assert!(
        !succeeded && text.contains("there is no openapi.json: write it"),
        "{text}"
    );
    for (content, message) in [
        ("{", "api.json is not JSON"),
        ("[]", "api.json is no OpenAPI document"),
    ] {
        fs::write(folder.path().join("api.json"), content).unwrap();
        let (succeeded, text) = check(folder.path(), &["api.json"]);
        assert!(!succeeded && text.contains(message), "{text}");
    }
}
