//! The description that the library prints, and the program `cargo-es`, which works from it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::support::{python_environment::printed, requirement::require};

/// The description that the library prints while nothing runs.
pub(super) fn describe() -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    // The subcommand needs no data directory.
    command.env("EVENT_STORE_DATA_DIR", "/nowhere");
    let output = command.arg("describe").output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// A part of the description.
pub(super) fn described(part: &str) -> Value {
    let mut description: Value = serde_json::from_str(&describe()).unwrap();
    description[part].take()
}

/// Returns the path of the program `cargo-es`, which a build of the workspace puts beside the library.
#[track_caller]
pub(crate) fn require_cargo_es() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_library-app")).with_file_name("cargo-es");
    let is_built = program.is_file();
    let remedy = "run `cargo build --package cargo-es`".to_owned();
    require("cargo-es", is_built.then_some(program).ok_or(remedy))
}

/// Runs `cargo es` with the description of the library, and returns the output.
pub(super) fn run_cargo_es(program: &Path, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("library.json");
    fs::write(&description, describe()).unwrap();
    let mut command = Command::new(program);
    command.arg("es").args(arguments).arg("--description");
    let output = command.arg(description).output().unwrap();
    assert!(output.status.success(), "{}", printed(&output));
    String::from_utf8(output.stdout).unwrap()
}
