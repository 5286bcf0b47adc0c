//! rustfmt changes nothing in generated files.

use std::path::Path;

use crate::{
    scratch_folder::{empty_folder, new_application, run_es},
    shared_build::check_format,
};

/// Adds a declaration of each kind, with names of this many letters.
fn add_each_kind(folder: &Path, length: usize) {
    let name = |first: char| format!("{first}{}", "x".repeat(length - 1));
    let [command, event, state, model, query, reaction] = ['C', 'E', 'S', 'M', 'Q', 'R'].map(name);
    let (field, path) = (name('f'), name('p'));
    for arguments in [
        format!(
            "command {command} --event {event} --pristine --subject /books/{{id}}/{path} --field {field}:u32 --unique {field}"
        ),
        format!("event G{event} --subject /{path}"),
        format!("state {state} --event {event} --event BookPurchased --field {field}:u32"),
        format!(
            "state T{state} --event BookPurchased --event {event} --field {field}:Vec<Timestamp>"
        ),
        format!(
            "read-model {model} --subject /books/{{id}}/{path} --event {event} --field {field}:Option<String>"
        ),
        format!("event H{event} --subject /{path} --field {field}:Vec<String>"),
        format!("read-model E{model} --each {field} --event H{event} --field {field}:String"),
        format!(
            "query H{query} --read-model {model} --path /h{path} --field {field}:String --handler"
        ),
        format!("query {query} --read-model {model} --path /{path} --field id:Uuid"),
        format!("query P{query} --read-model {model} --path /{path}/{{id}}"),
        format!("reaction {reaction} --event {event} --command {command}"),
        format!("reaction P{reaction} --event {event}"),
        format!("schedule S{reaction} --cron @daily --command {command}"),
    ] {
        let output = run_es(folder, &format!("add {arguments}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        // Some of the names have one letter more.
        let is_too_long = errors.contains("at most 36");
        assert!(
            output.status.success() || is_too_long,
            "{arguments}: {errors}"
        );
    }
}

#[test]
fn rustfmt_changes_nothing() {
    let folder = new_application(&empty_folder("source-format"), "a", "--example library");
    for length in [1, 7, 15, 25, 30, 33, 36] {
        add_each_kind(&folder, length);
    }
    check_format(&folder);
    let long = "Z".to_owned() + &"z".repeat(33);
    for (name, command, subject) in [
        ("b", "A", "/a"),
        ("c", &long, "/z/{id}"),
        (
            "d",
            "Visit",
            "/visits/{id} --field text:String --field at:Timestamp",
        ),
    ] {
        let content = format!("--command {command} --event {command}ed --subject {subject}");
        check_format(&new_application(&empty_folder(name), name, &content));
    }
}
