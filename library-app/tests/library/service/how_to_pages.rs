//! The commands of the how-to pages.

use std::{fs, path::Path, process::Command};

use crate::support::{Library, requirement::require_program};
use serde_json::Value;

fn page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/how-to");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The text of the blocks in this language, in order.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    let block = |rest: &'a str| rest.split("```").next().unwrap().trim();
    page.split(open.as_str()).skip(1).map(block).collect()
}

fn commands(page: &str) -> Vec<&str> {
    let mut blocks = blocks(page, "sh");
    blocks.retain(|block| block.starts_with("curl"));
    blocks
}

fn run(library: &Library, command: &str) -> String {
    let command = command.replace("http://localhost:8080", &library.url);
    let output = Command::new("sh").args(["-ec", &command]).output().unwrap();
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn commands_meet_others_and_are_sent_again_as_the_page_says() {
    if !require_program("curl", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(folder.path());
    let page = page("concurrency.md");
    let [register, remove, remove_as_seen, borrow] = commands(&page)[..] else {
        panic!("the page shows four blocks with commands of curl")
    };
    let json = blocks(&page, "json");
    let registered = run(&library, register);
    for line in blocks(&page, "text")[0].lines() {
        assert!(registered.contains(line), "{line} is not in {registered}");
    }
    assert_eq!(run(&library, remove), json[0]);
    assert_eq!(run(&library, remove_as_seen), blocks(&page, "text")[1]);
    let lent = run(&library, borrow);
    assert_eq!(lent.split(':').next(), json[1].split(':').next());
    assert_eq!(run(&library, borrow), lent);
}

#[tokio::test]
async fn headers_and_the_trace_go_into_events_as_the_page_says() {
    if !require_program("curl", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = page("metadata.md");
    let start = blocks(&page, "sh")[0];
    let (setting, _) = start.split_once(' ').unwrap();
    let library = Library::embedded_with(folder.path(), &[setting.split_once('=').unwrap()]);
    run(&library, commands(&page)[0]);
    let stored = &library.stored_lines().await[0]["payload"]["event"];
    let shown: Vec<Value> = blocks(&page, "json")
        .into_iter()
        .map(|block| serde_json::from_str(block).unwrap())
        .collect();
    assert_eq!(stored["data"], shown[0]);
    assert_eq!(stored["traceparent"], shown[1]["traceparent"]);
}
