//! The client of progenitor for Rust, which has no helper.

use std::{fs, path::Path, process::Command};

use super::{ClientFolder, HowToPage, said, source_folder};
use crate::{
    contract::tools::require_cargo_es,
    support::{
        Library, cargo::cargo, package_fetch::fetch_dependencies, python_environment::printed,
        requirement::require,
    },
};

#[test]
fn a_client_in_rust_completes_the_walkthrough() {
    if require_cargo_es().is_none() {
        return;
    }
    let source = source_folder("rust");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-client");
    fs::create_dir_all(path.join("src")).unwrap();
    let folder = ClientFolder::new(&path, &[]);
    for file in ["Cargo.toml", "Cargo.lock", "walkthrough.rs"] {
        folder.write(file, &fs::read_to_string(source.join(file)).unwrap());
    }
    let page = HowToPage::about("Rust");
    let manifest = fs::read_to_string(source.join("Cargo.toml")).unwrap();
    for shown in page.blocks("toml")[0].lines() {
        let (name, rest) = shown.split_once(" = ").unwrap();
        let version = rest.split('"').nth(1).unwrap();
        let mut lines = manifest.lines();
        let is_tested = lines.any(|line| {
            let rest = line
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix(" = "));
            rest.is_some_and(|rest| rest.split('"').nth(1) == Some(version))
        });
        assert!(is_tested, "the package does not have {shown}");
    }
    let [generated, example] = page.blocks("rust")[..] else {
        panic!("the page shows the library and the program")
    };
    let [generate, _run] = page.blocks("sh")[..] else {
        panic!("the page shows how to generate and run")
    };
    folder.run(generate);
    folder.write("src/lib.rs", generated);
    let data = tempfile::tempdir().unwrap();
    let library = Library::embedded(data.path());
    let example = example.replace("http://localhost:8080", &library.url);
    folder.write("src/main.rs", &example);
    if require("rust-client", fetch_dependencies(&path)).is_none() {
        return;
    }

    let mut run = build_in(&path, "run");
    run.args(["--bin", "walkthrough", "--", &library.url]);
    said("walkthrough", &run.output().unwrap());
    let shown = build_in(&path, "run").output().unwrap();
    assert!(shown.status.success(), "{}", printed(&shown));
    let text = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(text.trim(), page.blocks("text")[0].trim());
}

/// A command of Cargo that compiles the package without the network.
fn build_in(package: &Path, command: &str) -> Command {
    let mut cargo = cargo();
    cargo.args([command, "--quiet", "--frozen"]);
    cargo.env("NO_PROXY", "*").current_dir(package);
    cargo
}
