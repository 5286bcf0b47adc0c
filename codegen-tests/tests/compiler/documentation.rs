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

#[test]
fn the_page_for_coding_assistants_links_to_pages_of_the_book() {
    let page = project().join("docs/src/llms.txt");
    let text = read(&page);
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let targets: Vec<_> = targets
        .map(|target| target.replace(".html", ".md"))
        .collect();
    assert!(targets.len() > 20);
    for target in targets {
        assert!(page.with_file_name(&target).is_file(), "{target}");
    }
}

/// The address of the API of the facade.
const API: &str = "https://docs.rs/es-framework/latest/es_framework/";

/// Returns whether a committed public API has the item of a link such as `event/struct.Subject.html`.
fn is_public(api: &str, link: &str) -> bool {
    let file = link.rsplit('/').next().unwrap_or(link);
    let Some((kind, name)) = file.trim_end_matches(".html").split_once('.') else {
        return false;
    };
    let declares = |start: &str, end: &str| {
        let mark = format!("::{name}{end}");
        let continues = |rest: &str| {
            rest.starts_with("::")
                || rest.starts_with(|one: char| one.is_alphanumeric() || one == '_')
        };
        let mut lines = api.lines().filter(|line| line.contains(start));
        lines.any(|line| {
            line.split_once(&mark)
                .is_some_and(|(_, rest)| !continues(rest))
        })
    };
    match kind {
        "attr" => api.contains(&format!("::#[{name}]")),
        "derive" => api.contains(&format!("::#[derive({name})]")),
        "macro" => declares("pub macro ", "!"),
        "fn" => declares("pub fn ", "("),
        kind => declares(&format!("pub {kind} "), ""),
    }
}

#[test]
fn every_how_to_page_links_to_the_api() {
    let mut api = String::new();
    for file in fs::read_dir(project().join("docs/public-api")).unwrap() {
        api.push_str(&read(&file.unwrap().path()));
    }
    let mut all = BTreeSet::new();
    pages(&project().join("docs/src/how-to"), &mut all);
    for page in all {
        let text = read(&page);
        let links: Vec<_> = text.split(API).skip(1).collect();
        assert!(!links.is_empty(), "{} has no link to {API}", page.display());
        for link in links {
            let link = link.split(')').next().unwrap_or_default();
            assert!(is_public(&api, link), "{}: {link}", page.display());
        }
    }
}

/// Returns true if a page has Rust code that has to compile.
fn has_code(page: &Path) -> bool {
    let text = read(page);
    let mut lines = text.lines().map(str::trim);
    lines.any(|line| line.starts_with("```rust") && !line.contains("ignore"))
}

#[test]
fn the_code_of_every_page_is_compiled() {
    let root = project().canonicalize().unwrap();
    // The clients that are generated are compiled in the tests of the library.
    let places = [
        "codegen-tests/src/lib.rs",
        "library-app/tests/library/contract/generated_clients/mod.rs",
    ];
    let compiled = places.map(|file| read(&root.join(file))).concat();
    let mut all = BTreeSet::new();
    pages(&root.join("docs/src"), &mut all);
    for page in all.iter().filter(|page| has_code(page)) {
        let name = page.strip_prefix(&root).unwrap().display().to_string();
        assert!(compiled.contains(&name), "{name}");
    }
}
