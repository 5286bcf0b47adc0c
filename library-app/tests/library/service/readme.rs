//! The commands of the README.

use std::{fs, path::Path, process::Command};

use crate::support::{
    Library, TOKEN,
    page_commands::{code_blocks, run_commands},
    requirement::require_program,
};
use serde_json::Value;

fn page(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn the_walk_through_of_the_readme_gives_what_the_readme_shows() {
    if !require_program("curl", "curl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = Library::embedded(&folder.path().join("data"));
    fs::write(folder.path().join("data/api-token"), TOKEN).unwrap();
    let readme = page("README.md");
    let [.., purchase, read, ask, lend] = code_blocks(&readme, "sh")[..] else {
        panic!("the README shows four blocks with commands of curl")
    };
    let json = code_blocks(&readme, "json");

    let answer = run_commands(&library, folder.path(), purchase);
    for line in code_blocks(&readme, "text")[0].lines() {
        assert!(answer.contains(line), "{line} is not in {answer}");
    }

    let mut stored: Value =
        serde_json::from_str(&run_commands(&library, folder.path(), read)).unwrap();
    let mut shown: Value = serde_json::from_str(json[0]).unwrap();
    // Time and hash differ from run to run.
    for line in [&mut stored, &mut shown] {
        let time = line["payload"]["event"]["time"].take();
        let hash = line["payload"]["hash"].take();
        assert_eq!(
            (time.as_str().unwrap().len(), hash.as_str().unwrap().len()),
            (30, 64)
        );
    }
    assert_eq!(stored, shown);

    let answers = run_commands(&library, folder.path(), ask);
    assert!(answers.starts_with(json[1].trim()), "{answers}");
    assert!(
        answers.contains(r#"{"status":"UP","components""#),
        "{answers}"
    );

    let lent = run_commands(&library, folder.path(), lend);
    let shape = |text: &str| {
        let due_at = text.trim().strip_prefix(r#"{"dueAt":""#).unwrap();
        due_at.strip_suffix(r#"Z"}"#).unwrap().len()
    };
    assert!(shape(&lent) >= "2026-12-19T09:30:00".len());
    assert_eq!(shape(json[2]), "2026-12-19T09:30:00.123456789".len());
    assert_eq!(
        run_commands(&library, folder.path(), lend_again(lend)),
        lent
    );
}

/// The last command of a block.
fn lend_again(block: &str) -> &str {
    &block[block.rfind("curl").unwrap()..]
}

#[test]
fn the_readme_shows_the_feature_as_it_is() {
    let source = page("library-app/src/book/purchase.rs");
    let (_, feature) = source.split_once("\n\n").unwrap();
    let readme = page("README.md");
    assert_eq!(code_blocks(&readme, "rust")[0].trim(), feature.trim());
}

#[test]
fn the_readme_is_short() {
    let count = page("README.md").lines().count();
    assert!(count <= 150, "the README has {count} lines");
}

#[test]
fn the_comparison_shows_the_rule_of_borrowing_and_its_test_as_they_are() {
    let borrow = page("library-app/src/book/borrow.rs");
    let rule = &borrow[borrow.find("#[handler]").unwrap()..];
    let comparison = page("docs/src/comparison.md");
    let [shown, test] = code_blocks(&comparison, "rust,ignore")[..] else {
        panic!("the comparison shows the rule of borrowing and its test")
    };
    assert_eq!(shown.trim(), rule.trim());
    let tests = page("library-app/src/book/tests.rs");
    for line in test.lines() {
        assert!(tests.contains(line.trim()), "{line}");
    }
}

#[test]
fn the_comparison_counts_the_lines_of_borrow_as_they_are() {
    let borrow = page("library-app/src/book/borrow.rs");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let count = borrow.lines().filter(is_code).count();
    let shown = format!("and two subjects included | {count} |");
    assert!(page("docs/src/comparison.md").contains(&shown), "{shown}");
    let shown = format!("[{count} lines](docs/src/comparison.md");
    assert!(page("README.md").contains(&shown), "{shown}");
}

#[test]
fn every_setting_is_in_the_reference() {
    let output = Command::new(env!("CARGO_BIN_EXE_library-app"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let settings: Vec<_> = help
        .split("[env: ")
        .skip(1)
        .map(|rest| rest.split(['=', ']']).next().unwrap())
        .collect();
    assert!(settings.len() >= 10, "{help}");
    for setting in settings {
        assert!(
            page("docs/src/reference/settings.md").contains(setting),
            "{setting}"
        );
    }
}
