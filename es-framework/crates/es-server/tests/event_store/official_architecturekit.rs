//! The crate tests of architecturekit against the program `event-store`. It is the framework of the event
//! store's vendor, and its tests start a database each. Its published sources are built with the manifest of a
//! package outside the workspace, in which the program takes the place of a container.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::support::{
    cargo::cargo, package_fetch::fetch_dependencies, python_environment::printed,
    requirement::require,
};

const PACKAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/official-architecturekit"
);

/// The tests of its version 0.24.1, with all features.
const NUM_TESTS: usize = 580;

#[test]
fn the_crate_tests_of_architecturekit_pass() {
    let package = assemble();
    if require("official-architecturekit", fetch_dependencies(&package)).is_none() {
        return;
    }
    link(&published_sources(&package), &package.join("src"));
    let output = cargo()
        .args(["test", "--quiet", "--frozen", "--lib"])
        .env(
            "CARGO_BIN_EXE_event-store",
            env!("CARGO_BIN_EXE_event-store"),
        )
        .current_dir(package)
        .output()
        .unwrap();
    let printed = printed(&output);
    assert!(output.status.success(), "{printed}");
    let result = format!("test result: ok. {NUM_TESTS} passed; 0 failed; 0 ignored;");
    assert!(printed.contains(&result), "{printed}");
}

/// Puts the package into the target folder, without its sources.
fn assemble() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("official-architecturekit");
    fs::create_dir_all(&folder).unwrap();
    for name in ["Cargo.toml", "Cargo.lock", "database"] {
        link(&Path::new(PACKAGE).join(name), &folder.join(name));
    }
    folder
}

/// Returns the folder where Cargo keeps the published sources.
fn published_sources(package: &Path) -> PathBuf {
    let mut metadata = cargo();
    metadata
        .args(["metadata", "--format-version=1", "--frozen"])
        .arg("--filter-platform=host-tuple")
        .current_dir(package);
    let output = metadata.output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let published = packages.iter().find(|one| one["name"] == "architecturekit");
    let manifest = published.unwrap()["manifest_path"].as_str().unwrap();
    Path::new(manifest).with_file_name("src")
}

/// Links a path to an original, in place of an earlier link.
fn link(original: &Path, path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{error}"),
        _ => symlink(original, path).unwrap(),
    }
}
