//! The official client for Rust against the program `event-store`. Its tests are a package outside the
//! workspace, because the client turns on features of dependencies that the framework ships with.

use std::process::Output;

use crate::support::{
    cargo::cargo, package_fetch::fetch_dependencies, python_environment::printed,
    requirement::require,
};

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/official-rust-client");

/// Each is a test over one version of the API.
const NUM_TESTS: usize = 41;

#[test]
fn the_official_client_for_rust_works_unchanged() {
    if require("official-rust-client", fetch_dependencies(PACKAGE.as_ref())).is_none() {
        return;
    }
    let output = run_cargo(&["test", "--quiet", "--frozen"]);
    let printed = printed(&output);
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("warning"), "{printed}");
    let result = format!("test result: ok. {NUM_TESTS} passed; 0 failed; 0 ignored;");
    assert!(printed.contains(&result), "{printed}");
}

/// Runs Cargo for the package.
fn run_cargo(arguments: &[&str]) -> Output {
    cargo()
        .args(arguments)
        .env(
            "CARGO_BIN_EXE_event-store",
            env!("CARGO_BIN_EXE_event-store"),
        )
        .current_dir(PACKAGE)
        .output()
        .unwrap()
}
