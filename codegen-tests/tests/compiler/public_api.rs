//! The public API of each crate is the one that is committed as text.
//!
//! `INSTA_UPDATE=always cargo test --workspace --test compiler public_api` writes a changed API.

use std::{
    env,
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use insta::{assert_snapshot, with_settings};

use crate::cargo::{cargo, target_directory};

/// Writes a program that runs rustdoc with its unstable options, which include JSON. The variable must not be
/// seen by Cargo, because build scripts depend on it and would build half of all dependencies again.
fn json_rustdoc() -> PathBuf {
    let toolchain = Path::new(env!("CARGO")).with_file_name("rustdoc");
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-rustdoc");
    let text = format!(
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec '{}' \"$@\"\n",
        toolchain.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    script
}

/// Documents the libraries of the workspace as JSON. With fewer packages, Cargo would resolve other features of
/// dependencies, and check all crates another time.
fn document_libraries() {
    let output = cargo()
        .args(["doc", "--workspace", "--no-deps", "--lib", "--examples"])
        .args(["--quiet", "--offline"])
        .env("RUSTDOC", json_rustdoc())
        .env(
            "RUSTDOCFLAGS",
            "-Z unstable-options --output-format json --cap-lints allow",
        )
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
}

/// Returns the public items of a library, one on a line.
fn public_items(library: &str) -> String {
    let json = target_directory().join(format!("doc/{library}.json"));
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .unwrap();
    let lines = api.items().map(|item| format!("{item}\n"));
    lines.collect()
}

/// Returns the names of the packages of the framework.
fn packages() -> Vec<String> {
    let crates = fs::read_dir(workspace().join("es-framework/crates")).unwrap();
    let names = crates.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.extend(["es-framework".to_owned(), "es-macros".to_owned()]);
    names.sort();
    names
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn each_crate_has_the_committed_public_api() {
    document_libraries();
    for package in packages() {
        let items = public_items(&package.replace('-', "_"));
        with_settings!({
            snapshot_path => workspace().join("docs/public-api"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            assert_snapshot!(package.as_str(), items);
        });
    }
}

#[test]
fn each_committed_public_api_has_its_crate() {
    let files = fs::read_dir(workspace().join("docs/public-api")).unwrap();
    let stem = |file: PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<_> = files.map(|file| stem(file.unwrap().path())).collect();
    names.sort();
    assert_eq!(names, packages());
}
