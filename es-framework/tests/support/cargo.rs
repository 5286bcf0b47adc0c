//! Cargo, started by a test.

use std::{path::Path, process::Command};

/// The beginnings of the names of the variables about the package under test.
const OF_PACKAGE: [&str; 5] = [
    "CARGO_PKG",
    "CARGO_MANIFEST",
    "CARGO_CRATE",
    "CARGO_BIN",
    "CARGO_PRIMARY",
];

/// Returns Cargo without the variables about the package under test. Some build scripts depend on them
/// and would build half of all dependencies again. It builds in the target directory of the workspace, so
/// that shared dependencies are built once.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.env("CARGO_TARGET_DIR", target_directory());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OF_PACKAGE.iter().any(|start| text.starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Returns the target directory of the workspace.
pub(crate) fn target_directory() -> &'static Path {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch)
}
