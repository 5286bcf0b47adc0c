//! Rules of the source tree that neither the compiler nor clippy checks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod guarantees;
mod imports;
mod names;
mod source;

use std::collections::BTreeSet;

use source::{SourceFile, project, read_workspace};

/// Files of the whole workspace, without tests.
fn files() -> Vec<SourceFile> {
    let files = read_workspace();
    assert!(files.len() > 200, "only {} files", files.len());
    files
}

fn assert_none(violations: &[String], rule: &str) {
    assert!(violations.is_empty(), "{rule}:\n{}", violations.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = files();
    let cycles = imports::cycles(&files).into_iter();
    let violations: Vec<_> = cycles.map(|cycle| cycle.describe(&files)).collect();
    assert_none(&violations, "these files import each other");
}

/// The folders of an application are left out: they are its subjects, which follow each other's events.
#[test]
fn no_folders_of_a_crate_import_each_other_in_a_circle() {
    let mut files = files();
    files.retain(|file| !file.path.starts_with("library-app/"));
    let violations = imports::folder_cycles(&files);
    assert_none(&violations, "these folders import each other");
}

#[test]
fn no_type_is_named_with_a_bare_participle() {
    let files = source::read_code_with_tests();
    assert!(files.len() > 500, "only {} files", files.len());
    let names = |(path, code): &(String, String)| names::participle_types(path, code);
    let violations: Vec<_> = files.iter().flat_map(names).collect();
    assert_none(&violations, "these type names are participles: add a noun");
}

#[test]
fn no_type_name_stands_for_more_than_two_things() {
    let files = files();
    let violations: Vec<_> = names::repeated_types(&files)
        .into_iter()
        .map(|repeated| repeated.describe(&files))
        .collect();
    assert_none(&violations, "these type names are used more than twice");
}

#[test]
fn no_comment_opens_with_a_question_word() {
    let files = files();
    let violations: Vec<_> = files.iter().flat_map(names::question_comments).collect();
    assert_none(&violations, "these comments open with a question word");
}

#[test]
fn files_of_one_crate_share_a_name_only_if_they_play_the_same_role() {
    let files = files();
    let violations = names::repeated_file_names(&files);
    assert_none(&violations, "these files of one crate share a name");
}

#[test]
fn no_file_is_longer_than_400_lines() {
    let long = files().into_iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > 400).then(|| format!("{} has {lines} lines", file.path))
    });
    assert_none(&long.collect::<Vec<_>>(), "these files are too long");
}

/// The words of a page that look like paths of source files or folders.
fn paths_in(page: &str) -> BTreeSet<&str> {
    let is_path = |word: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        word.bytes().all(is_plain) && (word.ends_with(".rs") || word.ends_with('/'))
    };
    let words =
        page.split(|character: char| character.is_whitespace() || "`(){},;".contains(character));
    words
        .filter(|word| word.len() > 3)
        .filter(is_path)
        .collect()
}

/// The names of the types and modules of the workspace.
fn known_names(files: &[SourceFile]) -> BTreeSet<&str> {
    let mut names: BTreeSet<&str> = files
        .iter()
        .flat_map(|file| names::types(&file.code))
        .collect();
    for file in files {
        names.extend(
            file.path
                .split('/')
                .map(|part| part.trim_end_matches(".rs")),
        );
        // The facade gives some modules another name.
        let renamed = file.code.split(" as ").skip(1);
        names.extend(renamed.filter_map(|rest| rest.split([';', ',', ' ', '}']).next()));
    }
    names
}

#[test]
fn each_guarantee_names_tests_that_exist() {
    let page = source::read(&project().join("docs/src/reference/guarantees.md"));
    let known = guarantees::known_tests();
    let rows = guarantees::rows(&page);
    assert!(known.len() > 1_000 && rows.len() > 40);
    let is_proved = |row: &&&str| {
        let cited = guarantees::cited_tests(row);
        !cited.is_empty() && cited.iter().all(|test| known.contains(*test))
    };
    let unproved: Vec<_> = rows.iter().filter(|row| !is_proved(row)).collect();
    let unproved: Vec<_> = unproved.iter().map(ToString::to_string).collect();
    assert_none(
        &unproved,
        "these guarantees name no test, or one that does not exist",
    );
}

#[test]
fn the_glossary_names_only_types_and_modules_that_exist() {
    let files = files();
    let known = known_names(&files);
    let page = source::read(&project().join("docs/src/reference/glossary.md"));
    let rows = page.lines().filter_map(|row| row.strip_suffix(" |"));
    let places = rows
        .filter_map(|row| row.rsplit_once(" | "))
        .map(|(_, last)| last);
    let spans = places.flat_map(|place| place.split('`').skip(1).step_by(2));
    let paths: Vec<_> = spans.filter(|span| !span.contains(['#', '-'])).collect();
    assert!(paths.len() > 80, "{paths:?}");
    let is_unknown = |path: &&str| path.split("::").any(|name| !known.contains(name));
    let missing: Vec<_> = paths
        .into_iter()
        .filter(is_unknown)
        .map(str::to_owned)
        .collect();
    assert_none(&missing, "the glossary names what does not exist");
}

#[test]
fn the_architecture_page_names_only_paths_that_exist() {
    let mut known = BTreeSet::new();
    source::paths_below(&project(), &mut known);
    let page = source::read(&project().join("docs/src/architecture.md"));
    let exists = |path: &str| {
        let path = path.trim_end_matches('/');
        let below = format!("/{path}");
        known.iter().any(|one| one == path || one.ends_with(&below))
    };
    let missing = paths_in(&page).into_iter().filter(|path| !exists(path));
    let missing: Vec<_> = missing.map(str::to_owned).collect();
    assert_none(
        &missing,
        "docs/src/architecture.md names paths that do not exist",
    );
}

#[test]
fn each_decision_has_a_status_and_is_in_the_index() {
    let index = source::read(&project().join("docs/src/adr/index.md"));
    let mut pages = BTreeSet::new();
    source::paths_below(&project().join("docs/src/adr"), &mut pages);
    assert!(pages.len() > 20, "{pages:?}");
    let incomplete = pages.into_iter().filter(|page| {
        let name = page.trim_start_matches("docs/src/adr/");
        let has_status = source::read(&project().join(page)).contains("\n**Status.** ");
        name != "index.md" && !(has_status && index.contains(&format!("({name})")))
    });
    assert_none(
        &incomplete.collect::<Vec<_>>(),
        "decisions without a status or without a line in docs/src/adr/index.md",
    );
}
