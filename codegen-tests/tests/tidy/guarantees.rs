//! The page of guarantees, whose rows name the tests that prove them.

use std::{collections::BTreeSet, path::Path};

use super::source::{paths_below, project, read};

/// The rows of the tables, without their heads.
pub(crate) fn rows(page: &str) -> Vec<&str> {
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| Promise ");
    page.lines().filter(is_row).collect()
}

/// The names of tests in the last cell of a row.
pub(crate) fn cited_tests(row: &str) -> Vec<&str> {
    let cells = row.trim_end_matches(" |").rsplit_once(" | ");
    let (_, last) = cells.unwrap_or_default();
    last.split('`').skip(1).step_by(2).collect()
}

/// The names of all tests of the project that each run includes, and of the rules of the contract suite, which each engine's test runs.
pub(crate) fn known_tests() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for folder in ["es-framework", "library-app", "codegen-tests"] {
        paths_below(&project().join(folder), &mut paths);
    }
    let sources = paths
        .iter()
        .filter(|path| Path::new(path).extension().is_some_and(|end| end == "rs"));
    sources
        .flat_map(|path| tests_of_file(path, &read(&project().join(path))))
        .collect()
}

fn tests_of_file(path: &str, text: &str) -> Vec<String> {
    let are_rules = path.contains("/contract/") && path.ends_with("_rules.rs");
    let mut is_test = false;
    let mut names = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if line.starts_with("#[ignore") {
            is_test = false;
        } else if let Some((_, name)) = line.split_once("fn ")
            && !line.starts_with("//")
        {
            if is_test || are_rules && line.starts_with("pub(super) async fn ") {
                names.extend(name.split(['(', '<']).next().map(ToOwned::to_owned));
            }
            is_test = false;
        }
    }
    names
}
