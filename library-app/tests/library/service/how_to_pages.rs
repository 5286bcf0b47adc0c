//! The commands of the how-to pages.

use std::{fs, path::Path};

use crate::support::{
    Library,
    page_commands::{code_blocks, run_commands},
    requirement::require_program,
};
use serde_json::Value;

fn page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/how-to");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The text of the blocks in this language, in order, without the last line break, which no answer has.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let blocks = code_blocks(page, language).into_iter();
    blocks.map(str::trim).collect()
}

fn commands(page: &str) -> Vec<&str> {
    let mut blocks = blocks(page, "sh");
    blocks.retain(|block| block.starts_with("curl"));
    blocks
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
    let registered = run_commands(&library, folder.path(), register);
    for line in blocks(&page, "text")[0].lines() {
        assert!(registered.contains(line), "{line} is not in {registered}");
    }
    assert_eq!(run_commands(&library, folder.path(), remove), json[0]);
    assert_eq!(
        run_commands(&library, folder.path(), remove_as_seen),
        blocks(&page, "text")[1]
    );
    let lent = run_commands(&library, folder.path(), borrow);
    assert_eq!(lent.split(':').next(), json[1].split(':').next());
    assert_eq!(run_commands(&library, folder.path(), borrow), lent);
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
    run_commands(&library, folder.path(), commands(&page)[0]);
    let stored = &library.stored_lines().await[0]["payload"]["event"];
    let shown: Vec<Value> = blocks(&page, "json")
        .into_iter()
        .map(|block| serde_json::from_str(block).unwrap())
        .collect();
    assert_eq!(stored["data"], shown[0]);
    assert_eq!(stored["traceparent"], shown[1]["traceparent"]);
}
