//! Every page of the book is in the summary, and every link leads to a file.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Collects every Markdown file below a folder.
fn pages(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.insert(path.canonicalize().unwrap());
        }
    }
}

/// Returns the targets of `[text](target)` inside the project.
fn links(page: &Path) -> Vec<PathBuf> {
    let text = read(page);
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .map(|target| target.split('#').next().unwrap_or_default())
        .map(|target| page.with_file_name(target))
        .collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut all = BTreeSet::from(["README.md", "CONTRIBUTING.md"].map(|page| project().join(page)));
    pages(&project().join("docs/src"), &mut all);
    for page in all {
        for target in links(&page) {
            assert!(
                target.is_file(),
                "{} links to {}",
                page.display(),
                target.display()
            );
        }
    }
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = project().join("docs/src/SUMMARY.md");
    let listed: BTreeSet<_> = links(&summary)
        .iter()
        .map(|page| page.canonicalize().unwrap())
        .collect();
    let mut all = BTreeSet::new();
    pages(&project().join("docs/src"), &mut all);
    all.remove(&summary.canonicalize().unwrap());
    assert_eq!(listed, all);
}
